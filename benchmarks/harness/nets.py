"""A net's folder: its files, and the check of an engine's answer."""

import io
import os
import sys

import numpy as np

import engines
from zoo import names

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 2, "tests", "conformance"))
import case_files  # noqa: E402

OTHERS_TOLERANCE = 5e-3  # the official runtime's Winograd and approximate functions miss 1e-4
LOW_TOLERANCE = 5e-2  # for --precision low, which stores 8 bits of mantissa


class Net:
    def __init__(self, folder):
        self.folder = folder.rstrip("/")
        self.name = os.path.basename(self.folder)
        self.case = case_files.describe(self.folder)

    def file(self, name):
        return os.path.join(self.folder, name)

    def load_tensors(self):
        def load(entry):
            return np.ascontiguousarray(np.load(io.BytesIO(case_files.read(self.folder, entry["file"]))))

        self.inputs = {entry["name"]: load(entry) for entry in self.case["inputs"]}
        self.outputs = {entry["name"]: load(entry) for entry in self.case["outputs"]}

    def missing_for(self, engine):
        """Lists the files that an engine needs and that are missing."""
        return [name for name in engines.MODEL_FILES[engine] if not os.path.exists(self.file(name))]

    def tolerance(self, engine, precision):
        tolerance = self.case["tolerance"]["relative_to_max"]
        if engine not in engines.LIBRARIES:
            tolerance = max(tolerance, OTHERS_TOLERANCE)
        return max(tolerance, LOW_TOLERANCE) if precision == "low" else tolerance

    def wrong(self, results, tolerance):
        """Returns why the results are wrong, or None."""
        unordered = self.case.get("unordered_rows", {}).get("outputs", [])
        for (name, expected), got in zip(self.outputs.items(), results):
            if got.size != expected.size:
                return f"output {name} has {got.size} elements, expected {expected.size}"
            if expected.size == 0:  # an empty output: the detector found nothing
                continue
            got, expected = got.reshape(expected.shape).astype(np.float64), expected.astype(np.float64)
            if name in unordered:  # the rows have no order: compare the sorted columns, loosely
                got, expected = np.sort(got, 0), np.sort(expected, 0)
                if np.mean(np.abs(got - expected)) <= max(tolerance, 1e-2) * np.abs(expected).max():
                    continue
            error = np.abs(got - expected).max() / max(np.abs(expected).max(), 1e-300)
            if not error <= tolerance:
                return f"output {name} is off by {error:.1e} of its largest element"
        return None


def find(paths):
    """Returns the nets of the given folders, each a net or a folder of nets, in the order of the fixed lists."""
    folders = []
    for path in paths:
        if case_files.is_case(path):
            folders.append(path)
        elif os.path.isdir(path):
            folders += [os.path.join(path, name) for name in sorted(os.listdir(path))]
    found = [Net(folder) for folder in folders if case_files.is_case(folder)]
    listed = sum(names.GROUPS.values(), [])
    return sorted(found, key=lambda net: listed.index(net.name) if net.name in listed else len(listed))
