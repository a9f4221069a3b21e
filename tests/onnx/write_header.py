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
    # A convolution whose channels are scaled and shifted behind it: by BatchNormalization, and by an addition.
    picture, result = onnx.value("x", onnx.FLOAT, [1, 1, 4, 4]), onnx.value("y", onnx.FLOAT, [1, 2, 4, 4])
    folded = [onnx.node("Conv", ["x", "w"], ["a"]), onnx.node("BatchNormalization", ["a", "s", "b", "m", "v"], ["c"]),
              onnx.node("Add", ["c", "d"], ["y"])]
    numbers = [onnx.floats("w", [2, 1, 1, 1], [2, 3]), onnx.floats("s", [2], [4, 5]), onnx.floats("b", [2], [6, 7]),
               onnx.floats("m", [2], [1, 2]), onnx.floats("v", [2], [1, 4]), onnx.floats("d", [2, 1, 1], [8, 9])]
    lines = ["/* Made by write_header.py. */"]
    for name, nodes in models.items():
        data = onnx.model(onnx.graph(nodes, [x], [y]))
        lines.append(f"static const unsigned char {name}[] = {{{', '.join(map(str, data))}}};")
    data = onnx.model(onnx.graph(folded, [picture], [result], numbers))
    lines.append(f"static const unsigned char folded_model[] = {{{', '.join(map(str, data))}}};")
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
