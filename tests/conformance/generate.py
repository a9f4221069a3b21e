#!/usr/bin/env python3
"""Writes the operator cases, with expected outputs: small ONNX nets, converted by the official converter, and nets
written as the JSON form of their file.

usage: generate.py [--only REGEX] [--report] [--jobs COUNT] [OUTPUT_FOLDER]

Needs MNN (the official wheel), onnx, onnxruntime, numpy and flatc. See README.md for where the expected values come from.
"""
import argparse
import multiprocessing
import os
import re

from generator.families import CASES, WIRE_CASES
from generator.wire_writing import write_wire_case
from generator.writing import write_case


WRITERS = {}  # the functions that write the cases; processes inherit it


def write(name):
    try:
        WRITERS[name]()
    except Exception as error:  # one broken case must not hide the others
        print(f"BROKEN {name}: {type(error).__name__}: {error}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose name matches this expression")
    parser.add_argument("--report", action="store_true", help="print the distance of every output to other engines")
    parser.add_argument("--jobs", type=int, default=1, help="processes that write cases")
    parser.add_argument("output", nargs="?", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases"))
    options = parser.parse_args()
    for name, build in CASES:
        WRITERS[name] = lambda build=build: write_case(build(), options.output, options.report)
    for name, build in WIRE_CASES:
        WRITERS[name] = lambda build=build: write_wire_case(build(), options.output)
    names = [n for n in WRITERS if re.search(options.only, n)]
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        for _ in pool.imap_unordered(write, names):
            pass


if __name__ == "__main__":
    main()
