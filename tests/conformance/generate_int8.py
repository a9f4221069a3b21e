#!/usr/bin/env python3
"""Writes the cases of quantised nets: small nets built here, with the official runtime's outputs as expected ones.

usage: generate_int8.py [--only REGEX] [--flatc FLATC] [OUTPUT_FOLDER]

Needs MNN (the official wheel), numpy and flatc. The official runtime's int8 results are exact facts: every build of it
gives the same bits, so these cases allow no difference but that of the last conversion to float.
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

import case_files
from generator.arrays import entry
from generator.int8 import CASES, Net
from generator.wire_writing import make_model

HERE = os.path.dirname(os.path.abspath(__file__))

WORKER = r"""
import json, sys
import numpy as np
job = json.load(open(sys.argv[1]))
import MNN
net = MNN.Interpreter(job["mnn"])
session = net.createSession()
inputs = net.getSessionInputAll(session)
for name, path in job["inputs"].items():
    a = np.load(path)
    host = MNN.Tensor(a.shape, MNN.Halide_Type_Float, np.ascontiguousarray(a), MNN.Tensor_DimensionType_Caffe)
    inputs[name].copyFrom(host)
net.runSession(session)
for name, path in job["outputs"].items():
    t = net.getSessionOutput(session, name)
    shape = t.getShape()
    host = MNN.Tensor(shape, MNN.Halide_Type_Float, np.zeros(shape, np.float32), MNN.Tensor_DimensionType_Caffe)
    t.copyToHostTensor(host)
    np.save(path, np.array(host.getData(), np.float32).reshape(shape))
"""


def official(net, model, scratch):
    job = {"mnn": model, "inputs": {}, "outputs": {}}
    for name, data in net.inputs.items():
        job["inputs"][name] = os.path.join(scratch, f"in_{name}.npy")
        np.save(job["inputs"][name], data)
    for name in net.outputs:
        job["outputs"][name] = os.path.join(scratch, f"out_{name}.npy")
    path = os.path.join(scratch, "job.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(job, file)
    done = subprocess.run([sys.executable, "-c", WORKER, path], capture_output=True, text=True, timeout=120,
                          check=False)
    if done.returncode:
        raise RuntimeError(f"the official runtime: rc {done.returncode} {done.stdout[-300:]}{done.stderr[-300:]}")
    return {name: np.load(path) for name, path in job["outputs"].items()}


def write_case(net, tolerance, root, flatc):
    folder = os.path.join(root, net.name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    model = os.path.join(folder, "model.mnn")
    make_model(net.document(), model, flatc)
    with tempfile.TemporaryDirectory() as scratch:
        results = official(net, model, scratch)
    arrays = {}
    description = {"model": "model.mnn", "inputs": [entry(arrays, "in", k, v) for k, v in net.inputs.items()],
                   "outputs": [entry(arrays, "out", k, v) for k, v in results.items()],
                   "tolerance": {"relative_to_max": tolerance}}
    case_files.write(folder, description, arrays)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose name matches this expression")
    parser.add_argument("--flatc", default=shutil.which("flatc"))
    parser.add_argument("output", nargs="?", default=os.path.join(HERE, "cases"))
    options = parser.parse_args()
    for name, seed, function, tolerance in CASES:
        if re.search(options.only, name):
            net = Net(name, seed=seed)
            function(net)
            write_case(net, tolerance, options.output, options.flatc)


if __name__ == "__main__":
    main()
