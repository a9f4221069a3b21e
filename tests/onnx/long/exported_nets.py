#!/usr/bin/env python3
"""Converts and runs what export_nets.py wrote: every net with fixed extents, and with free ones at two sizes. onnxruntime is the
judge: floats may differ by 1e-4 of the largest value, integers have to be equal.

    exported_nets.py RUNNER FOLDER [REGEX]

One net after another, in a process of its own. Exit code 1: a net is not right, or there are fewer than 60.
"""
import json
import pathlib
import re
import sys
import warnings

import numpy as np
import onnxruntime

import node_tests

FEWEST = 60
MAX_BYTES = 12 << 30


class File:
    """A model that is read when it is written to the runner."""

    def __init__(self, path):
        self.path = path

    def SerializeToString(self):  # noqa: N802: as a model of the package onnx
        return self.path.read_bytes()


def truth(path, inputs, outputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    known = {one.name for one in session.get_inputs()}  # an input that nothing reads is left out
    inputs = [(name, array) for name, array in inputs if name in known]
    return inputs, list(zip(outputs, session.run(outputs, dict(inputs))))


def arrays_of(file, size):
    """Returns inputs of one size, in their order; dots of names became another character in the model."""
    return [(key.partition(":")[2], file[key]) for key in file.files if key.startswith(size + ":")]


def main():
    warnings.filterwarnings("ignore")
    runner, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    wanted = sys.argv[3] if len(sys.argv) > 3 else ""
    wrong, nets, free = [], 0, 0
    for about_path in sorted(folder.glob("*.json")):
        name = about_path.stem
        if not re.search(wanted, name):
            continue
        about, arrays = json.loads(about_path.read_text()), np.load(about_path.with_suffix(".npz"))
        nets += 1
        forms = [("fixed", folder / f"{name}.onnx", "first")]
        if about["free"]:
            free += 1
            forms += [(f"free, the {size} size", folder / f"{name}_free.onnx", size) for size in ("first", "other")]
        for form, path, size in forms:
            try:
                inputs, outputs = truth(path, arrays_of(arrays, size), about["outputs"])
            except Exception as error:  # noqa: BLE001
                print(f"{name} ({form}): onnxruntime refuses it: {str(error)[:200]}", flush=True)
                continue
            results = node_tests.run(runner, [(name, File(path), inputs, outputs)], MAX_BYTES)
            result, reason = results.get(name, ("missing", ""))
            print(f"{name} ({form}): {result} {reason[:400]}", flush=True)
            if result != "ok":
                wrong.append(f"{name} ({form}): {result}: {reason}")
    print(f"{nets} nets, {free} of them with free extents, too; {len(wrong)} are not right")
    if not wanted and nets < FEWEST:
        wrong.append(f"only {nets} nets")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
