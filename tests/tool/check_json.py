#!/usr/bin/env python3
"""The output of the tool with --json agrees with the tables of docs/tool.md: every member has one of its listed types,
and some call prints every listed member.

    check_json.py MNN_TOOL PAGE MODEL CASE_DIR FLATC
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import language_folder
import onnx_file as onnx

# Printed only on some machines, or for models that no call here uses.
ELSEWHERE = r"(\[\]\.devices\[\].*|skipped\[\].*|settings\.reasons\[\]|ops\.unsupported\.\*)"


def read_tables(page):
    """Returns command -> (path -> types)."""
    tables = {}
    for command, text in re.findall(r"^### `mnn ([\w -]+?) --json`\n(.*?)(?=^#|\Z)", page, flags=re.M | re.S):
        rows = re.findall(r"^\| (`.*?) \| ([a-z ]+) \|.*\|$", text, flags=re.M)
        tables[command] = {path: types.split(" or ") for names, types in rows for path in re.findall(r"`([^`]+)`", names)}
    return tables


def type_of(value):
    kinds = {bool: "boolean", int: "number", float: "number", str: "string", list: "list", dict: "object", type(None): "null"}
    return kinds[type(value)]


def paths(value, table, path=""):
    """Lists every place of the value with its type; a value that the table lists as a whole is not divided."""
    whole = path in table and not any(other.startswith((path + ".", path + "[")) for other in table)
    if path:
        yield path, type_of(value)
    if isinstance(value, dict) and not whole:
        for name, member in value.items():
            yield from paths(member, table, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and not whole:
        for member in value:
            yield from paths(member, table, path + "[]")


def pattern(path):
    return re.compile(re.escape(path).replace(r"\*", ".+"))


def check_value(command, value, table, seen):
    patterns = {path: pattern(path) for path in table}
    for path, kind in paths(value, table):
        listed = [name for name in table if patterns[name].fullmatch(path)]
        seen.update(listed)
        types = {kind for name in listed for kind in table[name]}
        # A list or an object need not be listed itself where its members are.
        inside = any(re.match(re.escape(path) + r"(\.|\[)", name) for name in table)
        if listed and kind not in types and not (kind in ("list", "object") and inside):
            sys.exit(f"mnn {command} --json: {path} is {kind}, the page says {sorted(types)}")
        if not listed and kind not in ("list", "object"):
            sys.exit(f"mnn {command} --json: the page does not list {path}")


def call(tool, *arguments, code=0):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != code:
        sys.exit(f"mnn {' '.join(map(str, arguments))}: exit code {done.returncode}, wanted {code}\n{done.stderr}")
    return json.loads(done.stdout)


def write_onnx(folder):
    """A model that becomes a net, and one with a node that cannot be expressed and random numbers."""
    x, y = onnx.value("x", onnx.FLOAT, ["batch", 4]), onnx.value("y", onnx.FLOAT, ["batch", 4])
    net, lacking = folder / "net.onnx", folder / "lacking.onnx"
    net.write_bytes(onnx.model(onnx.graph([onnx.node("Relu", ["x"], ["y"])], [x], [y])))
    nodes = [onnx.node("RandomNormalLike", ["x"], ["z"]), onnx.node("NoSuchOperator", ["z"], ["y"])]
    lacking.write_bytes(onnx.model(onnx.graph(nodes, [x], [y])))
    return net, lacking


def check_convert(tool, folder):
    net, lacking = write_onnx(folder)
    report = call(tool, "convert", net, folder / "n.mnn", "--json")
    assert (report["nodes"], report["operators"], report["problems"]) == (1, 2, []), report
    info = call(tool, "info", folder / "n.mnn", "--json")
    assert [one["shape"] for one in info["inputs"]] == [[-1, 4]], info["inputs"]
    call(tool, "convert", net, folder / "n.mnn", "--extent", "batch=3", "--json")
    info = call(tool, "info", folder / "n.mnn", "--json")
    assert [one["shape"] for one in info["inputs"]] == [[3, 4]], info["inputs"]
    for weights in (["fp16"], ["int8"], ["int4", "--block", "32"], ["fp32", "--weights-beside", "--follow-links", "--max-memory", "64"]):
        call(tool, "convert", net, folder / "n.mnn", "--json", "--weights", *weights)
    check_onnx_models(tool, net, folder)
    report = call(tool, "convert", lacking, folder / "l.mnn", "--json", code=1)
    assert [one["op_type"] for one in report["problems"]] == ["NoSuchOperator"], report
    assert not (folder / "l.mnn").exists() and report["notes"], report


def check_onnx_models(tool, net, folder):
    """Every command takes an ONNX model in place of a .mnn model."""
    shape = ["--shape", "x=2x4"]
    (folder / "x.csv").write_text("1,-2,3,-4\n-5,6,-7,8\n")
    ran = call(tool, "run", net, "--input", folder / "x.csv", *shape, "--json")
    assert ran["outputs"]["y"]["values"] == [1, 0, 3, 0, 0, 6, 0, 8], ran
    assert call(tool, "info", net, "--json")["inputs"][0]["shape"] == [-1, 4]
    wide = folder / "wide.onnx"
    x, y = onnx.value("x", onnx.FLOAT, ["batch", 4, "width"]), onnx.value("y", onnx.FLOAT, ["batch", 4, "width"])
    wide.write_bytes(onnx.model(onnx.graph([onnx.node("Relu", ["x"], ["y"])], [x], [y])))
    info = call(tool, "info", wide, "--json")
    assert info["session_error"] and info["outputs"] == [{"name": "y", "shape": [-1, 4, -1], "type": "float32"}], info
    assert call(tool, "compare", net, "--backends", "cpu,cpu", *shape, "--json")["agrees"]
    assert call(tool, "profile", net, *shape, "--json")
    assert call(tool, "bench", net, "--seconds", "0", *shape, "--json")
    assert call(tool, "graph", net, "--json")["net"]
    check_given_shapes(tool, folder)


def check_given_shapes(tool, folder):
    """A node without a form for free extents gets one for the shapes that the command has."""
    net = folder / "padded.onnx"
    x, y = onnx.value("x", onnx.FLOAT, [1, 1, "h", "w"]), onnx.value("y", onnx.FLOAT, [1, 1, "h", "w"])
    pool = onnx.node("AveragePool", ["x"], ["y"], kernel_shape=[1, 3], strides=[1, 2], auto_pad="SAME_UPPER",
                     count_include_pad=1)
    net.write_bytes(onnx.model(onnx.graph([pool], [x], [y])))
    (folder / "row.csv").write_text("3,6,9\n")
    ran = call(tool, "run", net, "--input", folder / "row.csv", "--shape", "x=1x1x1x3", "--json")
    assert ran["outputs"]["y"]["values"] == [3, 5], ran
    done = subprocess.run([tool, "run", net, "--input", folder / "row.csv"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "1 node without a form" in done.stderr and "note: " in done.stderr, done.stderr


def check_meaning(tool, model, case, folder):
    """Members describe the outcome."""
    bad = folder / "bad"
    bad.mkdir()
    (bad / "case.json").write_text("{}")
    result = call(tool, "verify", case, bad, "--json", code=1)
    assert (result["passed"], result["failed"]) == (1, 1), result
    assert [one["passed"] for one in result["cases"]] == [True, False] and result["cases"][1]["error"], result
    strict = call(tool, "verify", case, "--json", "--tolerance", "1e-30", code=1)
    assert strict["failed"] == 1 and strict["cases"][0]["error"] is None, strict
    compared = call(tool, "compare", model, "--backends", "cpu,cpu", "--json")
    assert compared["agrees"] and compared["largest_error"] == 0 and len(compared["tensors"]) > 3, compared
    algorithms = call(tool, "profile", model, "--algorithms", "--json")["ops"]
    for op in algorithms:
        chosen = [one["algorithm"] for one in op["candidates"] if one["chosen"]]
        assert (op["type"] != "Convolution" or chosen), op
    assert any(op["candidates"] for op in algorithms), algorithms
    graph = call(tool, "graph", model, "--json")
    assert len(graph["net"]["graphs"][0]["operators"]) > 3 and graph["session"]["graphs"][0]["operators"], graph
    text = subprocess.run([tool, "info", model, "--plan", "passes"], capture_output=True, text=True).stdout
    assert call(tool, "info", model, "--plan", "passes", "--json")["text"] == text


def main():
    tool, page, model, case, flatc = sys.argv[1:6]
    tables = read_tables(pathlib.Path(page).read_text())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        picture = folder / "grey.pgm"
        picture.write_bytes(b"P5 8 8 255\n" + bytes(range(0, 256, 4)))
        run = ["run", model, "--input", picture]
        boxes = ["--boxes", "scores", "--columns=x2,y2,score,x1,y1,-,-,-,class,-"]  # its scores make a box
        net, lacking = write_onnx(folder)
        language = language_folder.Model("mix").write(flatc, folder / "language")
        version = subprocess.run([tool, "version", "--json"], stdout=subprocess.PIPE, check=True).stdout
        lowest = json.loads(version)["cpu"]["isas"][-1]
        calls = {
            "version": [["version"]],
            "info": [["info", model], ["info", model, "--shape", "image=1x2x3x4"], ["info", language]],
            "info --plan": [["info", model, "--plan", "all"]],
            "run": [run, [*run, *boxes]],
            "generate": [["generate", language, "--tokens", "1,2", "--count", "2"]],
            "verify": [["verify", case], ["verify", case, "--tolerance", "1e-30"]],
            "bench": [["bench", model, "--seconds", "0"]],
            "compare": [["compare", model, "--backends", "cpu,cpu"]],
            "profile": [["profile", model, "--runs", "1"]],
            "profile --algorithms": [["profile", model, "--algorithms"]],
            "graph": [["graph", model]],
            "devices": [["devices"]],
            "calibrate": [["calibrate", "--isa", lowest]],
            "convert": [["convert", net, folder / "net.mnn"], ["convert", lacking, folder / "lacking.mnn"]],
        }
        if set(calls) != set(tables):
            sys.exit(f"the page has tables for {sorted(tables)}, the tool prints {sorted(calls)}")
        for command, lists in calls.items():
            seen = set()
            for arguments in lists:
                done = subprocess.run([tool, *map(str, arguments), "--json"], capture_output=True, text=True)
                if done.returncode not in (0, 1) or not done.stdout:
                    sys.exit(f"mnn {' '.join(map(str, arguments))} --json: {done.stderr}")
                check_value(command, json.loads(done.stdout), tables[command], seen)
            missing = [path for path in set(tables[command]) - seen if not re.fullmatch(ELSEWHERE, path)]
            if missing:
                sys.exit(f"mnn {command} --json: no call printed {missing}")
        check_meaning(tool, model, case, folder)
        check_convert(tool, folder)


if __name__ == "__main__":
    main()
