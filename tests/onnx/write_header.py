#!/usr/bin/env python3
"""Writes the models of onnx_test.c as arrays of C.

    write_header.py HEADER
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tool"))
import onnx_file as onnx  # noqa: E402


def main():
    x, y = onnx.value("x", onnx.FLOAT, ["batch", 4]), onnx.value("y", onnx.FLOAT, ["batch", 4])
    models = {
        "small_model": [onnx.node("Relu", ["x"], ["h"]), onnx.node("Neg", ["h"], ["y"])],
        "lacking_model": [onnx.node("NoSuchOperator", ["x"], ["h"]), onnx.node("NorThisOne", ["h"], ["y"])],
    }
    lines = ["/* Made by write_header.py. */"]
    for name, nodes in models.items():
        data = onnx.model(onnx.graph(nodes, [x], [y]))
        lines.append(f"static const unsigned char {name}[] = {{{', '.join(map(str, data))}}};")
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
