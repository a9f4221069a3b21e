#!/usr/bin/env python3
"""Calls `mnn graph` and `mnn profile --output`, and reads what they write.

    check_graph.py MNN_TOOL DIGITS_MODEL CASES [svg]

CASES: the folder of the conformance cases, some of which have control flow. With svg: the pictures that Graphviz's program
dot draws; the exit status is 77 where there is none.
"""
import os
import pathlib
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import xml.dom.minidom

from pages import Dot, Page

HOSTILE = b'</script>"&\\N]}<!--\n\x01<b>'  # as long as the name that it replaces
REPLACED = b"scores__matmul_converted"


def call(tool, *arguments, code=0, words=(), stdin=None, env=None):
    done = subprocess.run([tool, *map(str, arguments)], input=stdin, capture_output=True,
                          env={**os.environ, **(env or {})}, timeout=120)
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    assert done.returncode == code, f"{arguments}: exit status {done.returncode}, wanted {code}\n{said[-2000:]}"
    for word in words:
        assert word in said, f"{arguments}: '{word}' is missing in\n{said[-2000:]}"
    return done.stdout.decode("utf-8")


def check_dot(tool, model):
    dot = Dot(call(tool, "graph", model))
    labels = [node["label"].split("\n") for node in dot.nodes.values()]
    assert ["Input", "image"] in [label[:2] for label in labels], labels
    assert ["Output", "scores"] in [label[:2] for label in labels], labels
    assert any(label[0] == "Convolution" for label in labels), labels
    assert not any(label[0] == "Const" for label in labels), labels
    for begin, end, _ in dot.edges:
        assert begin in dot.nodes and end in dot.nodes, f"an edge {begin} -> {end} without its node"
    shapes = {edge["label"] for _, _, edge in dot.edges}
    assert "1x1x8x8 float32" in shapes and "1x10 float32" in shapes, shapes
    readers = {end for _, end, _ in dot.edges}
    assert all(name in readers or node["label"].startswith("Input") for name, node in dot.nodes.items())


def check_formats(tool, model, folder):
    for name in ("net.dot", "net.gv"):
        call(tool, "graph", model, "--output", folder / name)
        Dot((folder / name).read_text())
    call(tool, "graph", model, "--output", folder / "other", "--format", "dot")
    assert (folder / "other").read_text() == (folder / "net.dot").read_text()
    call(tool, "graph", model, "--output", folder / "net.png", code=2, words=[".dot, .svg and .html"])
    call(tool, "graph", model, "--output", folder / "a.dir" / "net", code=2, words=["--format"])
    call(tool, "graph", model, "--format", "png", code=2)
    call(tool, "graph", model, "--output", folder / "no" / "net.dot", code=1, words=["cannot write"])
    call(tool, "graph", folder / "none.mnn", code=1, words=["none.mnn"])
    bytes_ = pathlib.Path(model).read_bytes()
    piped = call(tool, "graph", "-", stdin=bytes_).replace("model -", f"model {model}")
    assert piped == (folder / "net.dot").read_text()
    call(tool, "graph", "-", stdin=b"", code=1)
    call(tool, "graph", "-", stdin=bytes_[:1000], code=1)


def check_page(tool, model, profiled):
    page = Page(call(tool, "graph", model, "--output", "-", "--format", "html",
                     *(["--profile", "--runs", "2"] if profiled else [])))
    main = page.data["graphs"][0]
    facts = {fact["name"]: fact["value"] for fact in page.data["facts"]}
    assert facts["model"] == str(model) and facts["threads"] == "1" and "instruction set" in facts, facts
    boxes = main["boxes"]
    for edge in main["edges"]:
        assert 0 <= edge["from"] < len(boxes) and 0 <= edge["to"] < len(boxes) and edge["from"] != edge["to"]
    looks = {row["key"] for row in page.data["legend"]}
    assert {box["look"] for box in boxes} <= looks
    products = [box for box in boxes if any(op["type"] == "Convolution" for op in box["ops"])]
    assert products and all(box["look"] == "cpu" and box["backend"] == "cpu" for box in products), products
    timed = [box for box in boxes if "ms" in box]
    assert page.data["timed"] == profiled
    if profiled:
        assert all("ms" in box for box in products)
        assert 0 < sum(box["ms"] for box in timed) < 1000 and "run" in facts
        assert any(box["fill"] == "#ff5046" for box in timed), "no box has the colour of the longest time"
    else:
        assert not timed
    return page


def check_together(tool, cases):
    """Two element-wise operators of a branch are one box; the operators of the main graph are separate."""
    model = cases / "control__if_then" / "model.mnn"
    page = Page(call(tool, "graph", model, "--format", "html", "--profile", "--runs", "1"))
    boxes = [box for graph in page.data["graphs"] for box in graph["boxes"]]
    together = [box for box in boxes if len(box["ops"]) > 1]
    assert [[op["name"] for op in box["ops"]] for box in together] == [["negative", "else_out"]], together
    assert together[0]["algorithm"] == "2 operators" and together[0]["ms"] > 0, together
    dot = Dot(call(tool, "graph", model, "--profile", "--runs", "1"))
    frames = {node["cluster"] for node in dot.nodes.values() if node["label"].startswith("UnaryOp")}
    assert len(frames) == 1 and "computed together" in dot.clusters[frames.pop()]["label"], dot.clusters
    # Values that are computed while planning are not counted for an operator that reads them.
    page = Page(call(tool, "graph", cases / "onnx__gather_0" / "model.mnn", "--format", "html"))
    boxes = [[op["type"] for op in box["ops"]] for box in page.data["graphs"][0]["boxes"]]
    assert ["GatherV2"] in boxes and ["Rank"] in boxes, boxes


def check_control_flow(tool, cases):
    model = cases / "control__loop_conditional" / "model.mnn"
    for flags in ([], ["--profile", "--runs", "1"]):
        dot = Dot(call(tool, "graph", model, *flags))
        frames = {name: row for name, row in dot.clusters.items() if name[len("cluster_g"):].isdigit()}
        assert frames and all("While" in row["label"] for row in frames.values()), dot.clusters
        calls = [edge for edge in dot.edges if "lhead" in edge[2]]
        assert {edge[2]["lhead"] for edge in calls} == set(frames), calls
        inside = [node for node in dot.nodes.values() if node["cluster"] in frames]
        assert any(node["label"].startswith("Output") for node in inside)
        page = Page(call(tool, "graph", model, "--format", "html", *flags))
        assert len(page.data["calls"]) == len(frames)
        body = page.data["graphs"][page.data["calls"][0]["body"]]["boxes"]
        assert any("ms" in box for box in body) == bool(flags), "the body has times after a run"
        looks = {box["look"] for box in body}
        assert "cpu" in looks if flags else "undecided" in looks, looks


def check_names(tool, model, folder):
    """Names of the model that would end strings, elements and labels if they were not escaped."""
    bytes_ = pathlib.Path(model).read_bytes()
    assert len(HOSTILE) == len(REPLACED) and bytes_.count(REPLACED) > 1
    hostile = folder / "hostile.mnn"
    hostile.write_bytes(bytes_.replace(REPLACED, HOSTILE))
    name = HOSTILE.decode()
    shown = "".join("?" if ord(c) < 32 else c for c in name)
    dot = Dot(call(tool, "graph", hostile, "--profile", "--runs", "1"))
    assert any(shown in node["label"].split("\n") for node in dot.nodes.values()), [n["label"] for n in dot.nodes.values()]
    text = call(tool, "graph", hostile, "--format", "html")
    assert text.count("</script>") == 2
    ops = [op for box in Page(text).data["graphs"][0]["boxes"] for op in box["ops"]]
    assert name in [op["name"] for op in ops]
    text = call(tool, "profile", hostile, "--output", "-", "--runs", "1")
    assert text.count("</script>") == 2
    assert name in [op["name"] for op in Page(text).data["ops"]]
    broken = folder / "broken.mnn"
    broken.write_bytes(bytes_.replace(REPLACED, b"\xff\xc0\x80" + REPLACED[3:]))
    for form in ("dot", "html"):
        assert "\ufffd\ufffd\ufffdres__matmul" in call(tool, "graph", broken, "--format", form)


def check_without_session(tool, model, folder):
    bytes_ = pathlib.Path(model).read_bytes()
    dims = struct.pack("<5i", 4, 1, 1, 8, 8)
    assert bytes_.count(dims) == 1
    open_model = folder / "open.mnn"
    open_model.write_bytes(bytes_.replace(dims, struct.pack("<5i", 4, 1, 1, -1, 8)))
    page = Page(call(tool, "graph", open_model, "--format", "html"))
    facts = {fact["name"]: fact["value"] for fact in page.data["facts"]}
    assert "--shape" in facts["not planned"], facts
    assert {box["look"] for box in page.data["graphs"][0]["boxes"]} == {"end", "undecided"}
    call(tool, "graph", open_model, "--profile", code=2, words=["--shape"])
    call(tool, "graph", open_model, "--shape", "none=1x1x8x8", code=2)
    dot = Dot(call(tool, "graph", open_model, "--shape", "image=3x1x8x8"))
    assert "3x10 float32" in {edge["label"] for _, _, edge in dot.edges}


def check_profile(tool, model, folder):
    path = folder / "profile.html"
    printed = call(tool, "profile", model, "--output", path, "--runs", "2", words=["GFLOP/s"])
    assert "<html" not in printed
    page = Page(path.read_text())
    facts = {fact["name"]: fact["value"] for fact in page.data["facts"]}
    assert facts["model"] == str(model) and "GFLOP/s" in facts["peak of the CPU"], facts
    ops = page.data["ops"]
    assert any(op["type"] == "Convolution" for op in ops)
    assert all(op["ms"] >= 0 and op["last"] >= 0 and op["backend"] == "cpu" for op in ops)
    begins = [op["begin"] for op in ops]
    assert begins == sorted(begins) and begins[0] >= 0
    alone = call(tool, "profile", "-", "--output", "-", "--runs", "1", stdin=pathlib.Path(model).read_bytes())
    assert len(Page(alone).data["ops"]) == len(ops)
    call(tool, "profile", model, "--output", "-", "--json", code=2, words=["--json"])
    call(tool, "profile", model, "--output", path, "--algorithms", code=2)
    call(tool, "profile", model, "--output", folder / "no" / "x.html", "--runs", "1", code=1, words=["cannot write"])


def check_dot_program(tool, model, folder):
    """The program dot as a script of this test: none, one that fails, and one that writes much and reads nothing."""
    svg = folder / "net.svg"
    call(tool, "graph", model, "--output", svg, code=1, words=["graphviz", ".html"], env={"PATH": str(folder / "none")})
    assert not svg.exists()
    programs = folder / "bin"
    programs.mkdir()

    def program(text):
        (programs / "dot").write_text("#!/bin/sh\n" + text)
        (programs / "dot").chmod(stat.S_IRWXU)
        return {"PATH": f"{programs}:{os.environ['PATH']}"}

    call(tool, "graph", model, "--output", svg, code=1, words=["this is wrong"], env=program("echo this is wrong >&2; exit 3"))
    assert not svg.exists()
    call(tool, "graph", model, "--output", svg, env=program("head -c 3000000 /dev/zero >&2; echo $@ | cat - /dev/null"))
    assert svg.read_text() == "-Tsvg\n"
    call(tool, "graph", model, "--output", svg, env=program("cat"))
    Dot(svg.read_text())


def check_commands(tool):
    call(tool, "foo", code=2, words=["'foo'", "info", "run", "profile", "graph"])
    call(tool, "", code=2, words=["there is no command ''"])
    call(tool, "grap", "x.mnn", "--output", "y", code=2, words=["'grap'"])
    call(tool, code=2)


def check_svg(tool, model, cases, folder):
    if not shutil.which("dot"):
        print("there is no program dot of Graphviz")
        return 77
    svg = folder / "net.svg"
    hostile = folder / "hostile.mnn"
    hostile.write_bytes(pathlib.Path(model).read_bytes().replace(REPLACED, HOSTILE))
    for net in (hostile, cases / "control__loop_conditional" / "model.mnn"):
        call(tool, "graph", net, "--output", svg, "--profile", "--runs", "1")
        document = xml.dom.minidom.parse(str(svg))
        assert document.documentElement.tagName == "svg"
        nodes = [g for g in document.getElementsByTagName("g") if g.getAttribute("class") == "node"]
        assert len(nodes) == len(Dot(call(tool, "graph", net)).nodes)
        assert not document.getElementsByTagName("script")
    call(tool, "graph", hostile, "--output", svg)
    texts = ["".join(child.data for child in t.childNodes) for t in xml.dom.minidom.parse(str(svg)).getElementsByTagName("text")]
    assert any('</script>"&\\N]}<!--' in text for text in texts), texts
    return 0


def main(arguments):
    if len(arguments) not in (3, 4):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    tool, model, cases = arguments[0], arguments[1], pathlib.Path(arguments[2])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if arguments[3:] == ["svg"]:
            return check_svg(tool, model, cases, folder)
        check_dot(tool, model)
        check_formats(tool, model, folder)
        check_page(tool, model, False)
        check_page(tool, model, True)
        check_together(tool, cases)
        check_control_flow(tool, cases)
        check_names(tool, model, folder)
        check_without_session(tool, model, folder)
        check_profile(tool, model, folder)
        if b"wine" not in pathlib.Path(tool).read_bytes()[:1000]:  # a script is no program of Windows
            check_dot_program(tool, model, folder)
        check_commands(tool)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
