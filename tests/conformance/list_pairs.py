#!/usr/bin/env python3
"""Writes pairs.txt, the operators and the form that each conformance case tests, or checks that it is up to date.

usage: list_pairs.py [--write] [CASES_FOLDER [PAIRS_FILE]]

A line has the operator types of the case's model and its form: the part of the folder's name behind the family, and
before it the family where that is no family of operators. Operators that only bring values into a net count where there
is no other. Exits with 1 where the file is out of date or where two cases have the same pair. Needs the standard library only.
"""
import argparse
import collections
import os
import re
import struct
import sys

import case_files

HERE = os.path.dirname(os.path.abspath(__file__))
OPERATORS = os.path.join(HERE, "..", "..", "impl", "base", "operators.def")
NO_FAMILIES = {"int8", "layout", "onnx", "weights"}
SOURCES = {"Input", "Const", "ConvertTensor"}
NET_NODES, NET_SUBGRAPHS, GRAPH_NODES, NODE_TYPE = 3, 10, 4, 5  # numbers of fields in schema/mnn.fbs


class Table:
    """A table of a FlatBuffers file."""

    def __init__(self, data, at):
        self.data, self.at = data, at

    def field(self, number):
        """Returns the place of the field, or None where it has its default."""
        entry = self.at - struct.unpack_from("<i", self.data, self.at)[0]
        place = 4 + 2 * number
        if place + 2 > struct.unpack_from("<H", self.data, entry)[0]:
            return None
        offset = struct.unpack_from("<H", self.data, entry + place)[0]
        return self.at + offset if offset else None

    def integer(self, number):
        at = self.field(number)
        return 0 if at is None else struct.unpack_from("<i", self.data, at)[0]

    def tables(self, number):
        at = self.field(number)
        if at is None:
            return []
        at += struct.unpack_from("<I", self.data, at)[0]
        places = range(at + 4, at + 4 + 4 * struct.unpack_from("<I", self.data, at)[0], 4)
        return [Table(self.data, p + struct.unpack_from("<I", self.data, p)[0]) for p in places]


def operator_names():
    with open(OPERATORS, encoding="utf-8") as file:
        return {int(number): name for name, number in re.findall(r"^OPERATOR\((\w+), *(\d+)", file.read(), re.M)}


def operators(path, names):
    """Returns the types of a model's operators, including those of its subgraphs."""
    with open(path, "rb") as file:
        data = file.read()
    net = Table(data, struct.unpack_from("<I", data)[0])
    nodes = net.tables(NET_NODES) + [node for graph in net.tables(NET_SUBGRAPHS) for node in graph.tables(GRAPH_NODES)]
    types = {names[node.integer(NODE_TYPE)] for node in nodes}
    return sorted(types - SOURCES or types)


def pairs(cases):
    """Returns the pair of each case, by the case's name."""
    names, found = operator_names(), {}
    for case in sorted(os.listdir(cases)):
        folder = os.path.join(cases, case)
        family, mark, form = case.partition("__")
        if not (family and mark and form):
            sys.exit(f"{case}: the name of a case is <family>__<form>")
        form = f"{family} {form}" if family in NO_FAMILIES else form
        model = case_files.describe(folder)["model"]
        found[case] = " ".join(operators(os.path.join(folder, model), names)) + ": " + form
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("cases", nargs="?", default=os.path.join(HERE, "cases"))
    parser.add_argument("file", nargs="?", default=os.path.join(HERE, "pairs.txt"))
    options = parser.parse_args()
    found = pairs(options.cases)
    twice = {pair for pair, count in collections.Counter(found.values()).items() if count > 1}
    for case, pair in found.items():
        if pair in twice:
            print(f"{case}: another case tests '{pair}' as well")
    text = "".join(f"{pair}\n" for pair in sorted(set(found.values())))
    if options.write:
        with open(options.file, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        with open(options.file, encoding="utf-8") as file:
            if file.read() != text:
                sys.exit(f"{options.file} is not what the cases say: run this script with --write")
    print(f"{len(found)} cases, {len(set(found.values()))} pairs of operators and form")
    sys.exit(1 if twice else 0)


if __name__ == "__main__":
    main()
