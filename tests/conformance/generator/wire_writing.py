"""Writes the folder of a case whose net is a WireNet: the model, made by flatc, and case.npz."""
import json
import os
import shutil
import subprocess

import numpy as np

import case_files
from generator.arrays import entry

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "schema", "mnn.fbs")


def make_model(document, path, flatc="flatc"):
    """Writes the file of a net from its JSON form."""
    base = os.path.splitext(path)[0]
    with open(base + ".json", "w", encoding="utf-8") as file:
        json.dump(document, file)
    subprocess.run([flatc, "--no-warnings", "--binary", "-o", os.path.dirname(path), SCHEMA, base + ".json"], check=True)
    os.remove(base + ".json")
    if os.path.exists(base + ".bin"):
        os.replace(base + ".bin", path)


def write_wire_case(net, root):
    folder = os.path.join(root, net.name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    make_model(net.document(), os.path.join(folder, "model.mnn"))
    arrays = {}
    inputs = [entry(arrays, "in", name, value) for name, value in net.inputs.items()]
    outputs = [entry(arrays, "out", name, rounded(net.expected[name])) for name in net.outputs]
    case_files.write(folder, {"model": "model.mnn", "inputs": inputs, "outputs": outputs,
                              "tolerance": {"relative_to_max": net.tolerance}}, arrays)


def rounded(value):
    """Converts values in double precision to the floats that the library returns, integers of 64 bits to 32; others
    stay."""
    kind = {"f": np.float32, "i": np.int32, "b": np.int32}.get(value.dtype.kind, value.dtype)
    return np.ascontiguousarray(value if value.dtype in (np.int8, np.uint8) else value.astype(kind)).reshape(value.shape)
