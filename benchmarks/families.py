#!/usr/bin/env python3
"""Puts the cases of the model families beside the ONNX files that they were made of, in folders for compare.py.

    python3 tests/families/export_torch.py build/sources
    python3 tests/families/export_onnx.py build/sources
    python3 benchmarks/families.py build/sources build/families
    python3 benchmarks/compare.py --engines ours,onnxruntime build/families

The .mnn files and the expected outputs are the committed ones of tests/families/cases; the exporters are seeded, and
compare.py checks each engine's outputs. Nets of TFLite have no ONNX file and are left out.
"""

import argparse
import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "tests", "conformance"))
import case_files  # noqa: E402


def sources(folder):
    """Yields each exported net: the contents of its net.json, and its ONNX file."""
    for family in sorted(os.listdir(folder)):
        for name in sorted(os.listdir(os.path.join(folder, family))):
            path = os.path.join(folder, family, name, "net.json")
            if not os.path.exists(path):
                continue
            with open(path, encoding="utf-8") as file:
                net = json.load(file)
            if net["source"] == "ONNX":
                yield net, os.path.join(os.path.dirname(path), net["model"])


def copy(case, onnx, target):
    """Copies the case to a folder, with both models as files of its own."""
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    model = os.path.join(case, case_files.describe(case)["model"])
    shutil.copy(os.path.join(case, case_files.ARCHIVE), target)
    shutil.copy(model, os.path.join(target, "model.mnn"))
    shutil.copy(onnx, os.path.join(target, "model.onnx"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", help="what the exporters wrote")
    parser.add_argument("output", help="a folder for the nets")
    parser.add_argument("--cases", default=os.path.join(HERE, os.pardir, "tests", "families", "cases"))
    options = parser.parse_args()
    made = 0
    for net, onnx in sources(options.sources):
        for form in net["forms"]:
            for run in net["runs"]:
                name = "_".join(part for part in (net["name"], form, run) if part)
                case = os.path.join(options.cases, net["family"], name)
                if not case_files.is_case(case):
                    print(f"no case: {net['family']}/{name}")
                    continue
                copy(case, onnx, os.path.join(options.output, f"{net['family']}.{name}"))
                made += 1
    print(f"{made} nets in {options.output}")
    return 0 if made else 1


if __name__ == "__main__":
    sys.exit(main())
