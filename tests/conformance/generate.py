#!/usr/bin/env python3
"""Writes the operator cases, with expected outputs: small ONNX nets, converted by the official converter, and nets
written as the JSON form of their file.

usage: generate.py [--only REGEX] [--report] [OUTPUT_FOLDER]

Needs MNN (the official wheel), onnx, onnxruntime, numpy and flatc. See README.md for where the expected values come from.
"""
import argparse
import os
import re

from generator.families import CASES, WIRE_CASES
from generator.wire_writing import write_wire_case
from generator.writing import write_case

# Nets whose operators the library does not implement yet: made only when --only names them.
NOT_YET = {"convolution__3d", "control__rnn"}
NOT_YET = {"convolution__3d", "grid_sample__modes", "roi_align__modes"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose name matches this expression")
    parser.add_argument("--report", action="store_true", help="print the distance of every output to other engines")
    parser.add_argument("output", nargs="?", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases"))
    options = parser.parse_args()
    writers = [(name, lambda build=build: write_case(build(), options.output, options.report)) for name, build in CASES]
    writers += [(name, lambda build=build: write_wire_case(build(), options.output)) for name, build in WIRE_CASES]
    for name, write in writers:
        if re.search(options.only, name) and (name not in NOT_YET or options.only):
            try:
                write()
            except Exception as error:  # one broken case must not hide the others
                print(f"BROKEN {name}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
