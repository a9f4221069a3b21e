#!/usr/bin/env python3
"""Writes the cases of the model families: small seeded nets, by the official converter, with expected outputs.

usage: make_families.py [--only REGEX] [--torch PYTHON] [--litert PYTHON] [--tool MNN] [--keep FOLDER] [OUTPUT_FOLDER]

Needs MNN (the official wheel, 3.6.1), onnx, onnxruntime and numpy; and beside it a Python with PyTorch and torchvision
and one with ai-edge-litert, which may be the same one. Prints a line for every output: its distance to ONNX Runtime in
single precision and to the official runtime; with --tool, this library runs the cases, too.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "conformance"))

import case_files  # noqa: E402
from generator.arrays import entry  # noqa: E402
from generator.expected import apart, stored  # noqa: E402
from generator.official import worker  # noqa: E402

LIMIT, LIMIT_OF_ALL = 300 * 1024, 6 * 1000 * 1000  # bytes of a net, and of all cases
CONVERTER = r"""
import json, sys
import _tools
_tools.mnnconvert(json.load(open(sys.argv[1])))
"""


def plain(value):
    """Bytes are kept; all other types become those of the converted net."""
    return value if value.dtype in (np.int8, np.uint8) else stored(value)


def convert(source, framework, target, flags):
    with tempfile.TemporaryDirectory() as scratch:
        job = os.path.join(scratch, "job.json")
        with open(job, "w", encoding="utf-8") as file:
            json.dump(["mnnconvert", "-f", framework, "--modelFile", source, "--MNNModel", target, "--bizCode", "test",
                       *flags], file)
        done = subprocess.run([sys.executable, "-c", CONVERTER, job], capture_output=True, text=True, timeout=300,
                              check=False)
    return None if not done.returncode and os.path.exists(target) else (done.returncode, done.stdout[-300:])


def fold_scalars(graph):
    """Replaces ConstantOfShape without dims by a constant, because the converter writes uninitialised memory for it."""
    known = {i.name: onnx.numpy_helper.to_array(i) for i in graph.initializer}
    for node in graph.node:
        value = None
        if node.op_type == "Constant":
            known[node.output[0]] = onnx.numpy_helper.to_array(node.attribute[0].t)
        elif node.op_type == "ConstantOfShape" and node.input[0] in known and known[node.input[0]].size == 0:
            value = onnx.numpy_helper.to_array(node.attribute[0].t).reshape(())
        elif node.op_type == "Shape" and node.input[0] in known and known[node.input[0]].shape == ():
            value = np.zeros(0, np.int64)
        if value is not None:
            known[node.output[0]] = value
            node.CopyFrom(onnx.helper.make_node("Constant", [], node.output, value=onnx.numpy_helper.from_array(value)))


def shorten(path):
    """Gives short names to inner tensors: the exporter's are as large as the weights."""
    model = onnx.load(path)
    fold_scalars(model.graph)
    kept = {v.name for v in list(model.graph.input) + list(model.graph.output)} | {""}
    short = {}

    def rename(graph):
        del graph.value_info[:]
        for node in graph.node:
            node.name = ""
            for names in (node.input, node.output):
                names[:] = [n if n in kept else short.setdefault(n, f"t{len(short)}") for n in names]
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    rename(attribute.g)
        for value in list(graph.initializer) + list(graph.input) + list(graph.output):
            if value.name not in kept:
                value.name = short.setdefault(value.name, f"t{len(short)}")

    rename(model.graph)
    onnx.save(model, path)


def onnx_runtime(path, inputs, outputs):
    try:
        import onnxruntime
        onnxruntime.set_default_logger_severity(4)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        known = {i.name: i.type for i in session.get_inputs()}
        feed = {k: v for k, v in inputs.items() if k in known}
        return dict(zip(outputs, session.run(outputs, feed)))
    except Exception as error:
        print(f"  ONNX Runtime: {str(error)[:200]}")
        return {}


def official(model, scratch, inputs, outputs):
    files = []
    for name, value in inputs.items():
        files.append(os.path.join(scratch, f"in_{name}.npy"))
        np.save(files[-1], plain(value))
    try:
        code, _ = worker(scratch, step="run", mnn=model, inputs=list(inputs),
                         outputs=outputs, files=files)
    except subprocess.TimeoutExpired:
        code = "timeout"
    found = {}
    for name in outputs:
        path = os.path.join(scratch, name + ".npy")
        if os.path.exists(path):
            found[name] = np.load(path)
            os.remove(path)
    return found if not code else {"": code}


def write_case(folder, net, arrays, source, flags, shared):
    """Writes one net in one form and one run. shared: the folder of another run, whose model this one uses."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    model = os.path.join(shared or folder, "model.mnn")
    failure = None if shared else convert(source, net["source"], model, flags)
    if failure:
        print(f"NOT CONVERTED {folder}: {failure}")
        shutil.rmtree(folder)
        return False
    inputs = {name: arrays["in_" + name] for name in net["inputs"]}
    expected = {name: plain(arrays["out_" + name]) for name in net["outputs"]}
    members = {}
    description = {"model": os.path.relpath(model, folder),
                   "inputs": [entry(members, "in", name, plain(value)) for name, value in inputs.items()],
                   "outputs": [entry(members, "out", name, value) for name, value in expected.items()],
                   "tolerance": {"relative_to_max": net["tolerance"]}}
    case_files.write(folder, description, members)
    size = os.path.getsize(model)
    print(f"{os.path.relpath(folder)}: {size} bytes{'  <-- TOO LARGE' if size > LIMIT else ''}")
    with tempfile.TemporaryDirectory() as scratch:
        single = onnx_runtime(source, inputs, net["outputs"]) if net["source"] == "ONNX" else {}
        second = official(model, scratch, inputs, net["outputs"])
    if "" in second:
        print(f"  official runtime: exit code {second['']}")
    for name, value in expected.items():
        print(f"  {name} {value.shape}: ONNX Runtime {distance(single, name, value)}, "
              f"official {distance(second, name, value)}")
    return True


def distance(found, name, value):
    return f"{apart(plain(found[name]), value):.1e}" if name in found else "none"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="nets whose family/name matches this expression")
    parser.add_argument("--torch", default=sys.executable, help="a Python with PyTorch")
    parser.add_argument("--litert", default=sys.executable, help="a Python with ai-edge-litert")
    parser.add_argument("--tool", help="the command line tool, which then verifies every case")
    parser.add_argument("--keep", help="a folder for the nets of the source frameworks")
    parser.add_argument("output", nargs="?", default=os.path.join(HERE, "cases"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        source = options.keep or scratch
        for python, script in ((options.torch, "export_torch.py"), (options.litert, "export_tflite.py"),
                               (sys.executable, "export_onnx.py")):
            subprocess.run([python, os.path.join(HERE, script), source, options.only], check=False)
        folders = []
        for family in sorted(os.listdir(source)):
            for name in sorted(os.listdir(os.path.join(source, family))):
                if os.path.exists(os.path.join(source, family, name, "net.json")) and \
                        re.search(options.only, f"{family}/{name}"):
                    folders += write_net(os.path.join(source, family, name), options.output)
    size = sum(os.path.getsize(os.path.join(at, file)) for at, _, files in os.walk(options.output) for file in files)
    print(f"{size} bytes in all{'  <-- TOO LARGE' if size > LIMIT_OF_ALL else ''}")
    if options.tool and folders:
        subprocess.run([options.tool, "verify", *folders], check=False)


def write_net(origin, output):
    with open(os.path.join(origin, "net.json"), encoding="utf-8") as file:
        net = json.load(file)
    written = []
    if net["source"] == "ONNX":
        shorten(os.path.join(origin, net["model"]))
    for form, flags in net["forms"].items():
        shared = None
        for run in net["runs"]:
            arrays = dict(np.load(os.path.join(origin, f"run_{run}.npz")))
            folder = os.path.join(output, net["family"], "_".join(p for p in (net["name"], form, run) if p))
            if write_case(folder, net, arrays, os.path.join(origin, net["model"]), flags, shared):
                written.append(folder)
                shared = shared or folder
    return written


if __name__ == "__main__":
    main()
