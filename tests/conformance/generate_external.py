#!/usr/bin/env python3
"""Writes the case weights__external: a net whose four kinds of external values lie in model.mnn.weight beside it.

usage: generate_external.py [--flatc FLATC] [OUTPUT_FOLDER]

Needs flatc. The expected values are computed here in double precision.
"""
import argparse
import json
import math
import os
import shutil
import struct
import subprocess

import case_files

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(HERE, "..", "..", "schema", "mnn.fbs")
IN, OUT, HEIGHT, WIDTH = 3, 5, 2, 4  # channels and extents
EPSILON = 1e-3


def value(i):
    """Returns numbers that floats represent exactly, all different from their neighbours."""
    return ((i * 37 + 11) % 64 - 31) / 16


class Weights:
    """The external file under construction; ranges start at odd bytes, which the format allows."""

    def __init__(self):
        self.data = b"x"
        self.made = 0

    def add(self, *counts):
        """Returns (external entries, the lists of values)."""
        entries, lists = [len(self.data)], []
        for count in counts:
            values = [value(self.made + i) for i in range(count)]
            self.made += count
            self.data += struct.pack(f"<{count}f", *values)
            entries.append(4 * count)
            lists.append(values)
        return entries, lists


def npy(shape, values):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    lead = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
    return lead + header.encode() + struct.pack(f"<{len(values)}f", *values)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flatc", default=shutil.which("flatc"))
    parser.add_argument("output", nargs="?", default=os.path.join(HERE, "cases"))
    arguments = parser.parse_args()
    folder = os.path.join(arguments.output, "weights__external")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)

    pixels = HEIGHT * WIDTH
    weights = Weights()
    conv_range, (kernel, bias) = weights.add(OUT * IN, OUT)
    scale_range, (scale, shift) = weights.add(OUT, OUT)
    const_range, (added,) = weights.add(OUT * pixels)
    norm_range, (gamma, beta) = weights.add(WIDTH, WIDTH)

    x = [value(i + 5) for i in range(IN * pixels)]
    conv = [bias[o] + sum(kernel[o * IN + c] * x[c * pixels + p] for c in range(IN))
            for o in range(OUT) for p in range(pixels)]
    scaled = [v * scale[i // pixels] + shift[i // pixels] for i, v in enumerate(conv)]
    sums = [a + b for a, b in zip(scaled, added)]
    normed = []
    for row in range(OUT * HEIGHT):
        values = sums[row * WIDTH:(row + 1) * WIDTH]
        mean = sum(values) / WIDTH
        spread = math.sqrt(sum((v - mean) ** 2 for v in values) / WIDTH + EPSILON)
        normed += [(v - mean) / spread * g + b for v, g, b in zip(values, gamma, beta)]

    shape = [1, OUT, HEIGHT, WIDTH]
    net = {
        "bizCode": "external", "mnn_uuid": "00000000-0000-4000-8000-000000000000",
        "tensorName": ["x", "packed", "conv", "scale", "y_scale", "const", "sum", "y_norm"],
        "outputName": ["y_scale", "y_norm"],
        "oplists": [
            {"type": "Input", "name": "x", "outputIndexes": [0], "main_type": "Input",
             "main": {"dims": [1, IN, HEIGHT, WIDTH], "dtype": "DT_FLOAT", "dformat": "NCHW"}},
            {"type": "ConvertTensor", "name": "packed", "inputIndexes": [0], "outputIndexes": [1],
             "main_type": "TensorConvertInfo", "main": {"source": "NCHW", "dest": "NC4HW4"}},
            {"type": "Convolution", "name": "conv", "inputIndexes": [1], "outputIndexes": [2],
             "defaultDimentionFormat": "NC4HW4", "main_type": "Convolution2D",
             "main": {"common": {"outputCount": OUT, "inputCount": IN}, "external": conv_range}},
            {"type": "Scale", "name": "scale", "inputIndexes": [2], "outputIndexes": [3],
             "defaultDimentionFormat": "NC4HW4", "main_type": "Scale",
             "main": {"channels": OUT, "external": scale_range}},
            {"type": "ConvertTensor", "name": "y_scale", "inputIndexes": [3], "outputIndexes": [4],
             "main_type": "TensorConvertInfo", "main": {"source": "NC4HW4", "dest": "NCHW"}},
            {"type": "Const", "name": "const", "outputIndexes": [5], "main_type": "Blob",
             "main": {"dims": shape, "dataFormat": "NCHW", "external": const_range}},
            {"type": "BinaryOp", "name": "sum", "inputIndexes": [4, 5], "outputIndexes": [6],
             "defaultDimentionFormat": "NCHW", "main_type": "BinaryOp", "main": {"opType": 0}},
            {"type": "LayerNorm", "name": "y_norm", "inputIndexes": [6], "outputIndexes": [7],
             "defaultDimentionFormat": "NCHW", "main_type": "LayerNorm",
             "main": {"axis": [-1], "epsilon": EPSILON, "external": norm_range}},
        ],
    }
    model = os.path.join(folder, "model.mnn")
    source = os.path.join(folder, "model.json")
    with open(source, "w", encoding="utf-8") as file:
        json.dump(net, file)
    subprocess.run([arguments.flatc, "--no-warnings", "--binary", "-o", folder, SCHEMA, source], check=True)
    os.remove(source)
    made = os.path.join(folder, "model.bin")
    if os.path.exists(made):
        os.replace(made, model)
    with open(model + ".weight", "wb") as file:
        file.write(weights.data)
    case = {"model": "model.mnn", "inputs": [], "outputs": [], "tolerance": {"relative_to_max": 1e-05}}
    arrays = {}
    for kind, name, file, extents, values in (("inputs", "x", "in_x.npy", [1, IN, HEIGHT, WIDTH], x),
                                              ("outputs", "y_scale", "out_y_scale.npy", shape, scaled),
                                              ("outputs", "y_norm", "out_y_norm.npy", shape, normed)):
        case[kind].append({"name": name, "shape": extents, "dtype": "float32", "file": file})
        arrays[file] = npy(extents, values)
    case_files.write(folder, case, arrays)


if __name__ == "__main__":
    main()
