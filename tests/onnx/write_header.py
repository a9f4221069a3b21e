#!/usr/bin/env python3
"""Writes the models of the tests in C as arrays.

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
    # A convolution whose channels are then scaled and shifted: by BatchNormalization, and by an addition.
    picture, result = onnx.value("x", onnx.FLOAT, [1, 1, 4, 4]), onnx.value("y", onnx.FLOAT, [1, 2, 4, 4])
    folded = [onnx.node("Conv", ["x", "w"], ["a"]), onnx.node("BatchNormalization", ["a", "s", "b", "m", "v"], ["c"]),
              onnx.node("Add", ["c", "d"], ["y"])]
    numbers = [onnx.floats("w", [2, 1, 1, 1], [2, 3]), onnx.floats("s", [2], [4, 5]), onnx.floats("b", [2], [6, 7]),
               onnx.floats("m", [2], [1, 2]), onnx.floats("v", [2], [1, 4]), onnx.floats("d", [2, 1, 1], [8, 9])]
    # The same after a convolution of three axes, a transposed one, and a product.
    norm = onnx.node("BatchNormalization", ["a", "s", "b", "m", "v"], ["c"])
    volume = [onnx.node("Conv", ["x", "w"], ["a"]), norm, onnx.node("Relu", ["c"], ["y"])]
    transposed = [onnx.node("ConvTranspose", ["x", "w"], ["a"]), norm, onnx.node("Add", ["c", "d"], ["y"])]
    layer = [onnx.node("MatMul", ["x", "w"], ["a"]), onnx.node("Add", ["a", "b"], ["c"]), onnx.node("Relu", ["c"], ["y"])]
    # Branches whose sum is one convolution, and two whose windows do not lie inside of each other.
    branches = [onnx.node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]), onnx.node("Conv", ["x", "u"], ["d"]),
                onnx.node("BatchNormalization", ["x", "s", "b", "m", "v"], ["c"]), onnx.node("Add", ["c", "d"], ["e"]),
                onnx.node("Add", ["e", "a"], ["f"]), onnx.node("Relu", ["f"], ["y"])]
    apart_lines = [onnx.node("Conv", ["x", "w"], ["a"], pads=[0, 1, 0, 1]), onnx.node("Conv", ["x", "u"], ["d"], pads=[1, 0, 1, 0]),
             onnx.node("Add", ["a", "d"], ["y"])]
    rms = [onnx.node("Mul", ["x", "x"], ["q"]), onnx.node("ReduceMean", ["q"], ["v"], axes=[-1]), onnx.node("Add", ["v", "e"], ["a"]),
           onnx.node("Sqrt", ["a"], ["r"]), onnx.node("Div", ["o", "r"], ["i"]), onnx.node("Mul", ["x", "i"], ["n"]), onnx.node("Mul", ["g", "n"], ["y"])]
    own = [onnx.node("InstanceNormalization", ["x", "s", "b"], ["y"])]
    ones = onnx.floats("s", [2], [1, 1])
    # Nodes that become several operators, or have several results.
    parts = [onnx.node("Mean", ["x", "x"], ["h"]), onnx.node("HardSigmoid", ["h"], ["s"]), onnx.node("Split", ["s"], ["p", "q"], axis=1),
             onnx.node("Concat", ["q", "p"], ["y"], axis=1)]
    # As an exporter writes heads: the length 6 is that of its example.
    heads_of_six = [onnx.node("Shape", ["x"], ["a"]), onnx.node("Gather", ["a", "one"], ["b"]), onnx.node("Mul", ["b", "two"], ["c"]),
                    onnx.node("Concat", ["six", "c", "four"], ["d"], axis=0), onnx.node("Reshape", ["x", "d"], ["y"])]
    behind = (
        ("six_model", heads_of_six, ["length", "batch", 8], [6, "heads", 4],
         [onnx.ints(name, [1], [value]) for name, value in (("one", 1), ("two", 2), ("six", 6), ("four", 4))]),
        ("parts_model", parts, [1, 6], [1, 6], []),
        ("norm_model", own, [1, 2, 2, 4], [1, 2, 2, 4], [ones, onnx.floats("b", [2], [0, 0])]),
        ("shifted_norm_model", own, [1, 2, 2, 4], [1, 2, 2, 4], [ones, onnx.floats("b", [2], [0, 1])]),
        ("rms_model", rms, [2, 8], [2, 8], [onnx.floats("e", [], [1e-5]), onnx.floats("o", [], [1]), onnx.floats("g", [8], range(8))]),
        ("volume_model", volume, [1, 1, 2, 2, 2], [1, 2, 2, 2, 2], [onnx.floats("w", [2, 1, 1, 1, 1], [2, 3]), *numbers[1:5]]),
        ("transposed_model", transposed, [1, 1, 2, 4], [1, 2, 2, 4], [onnx.floats("w", [1, 2, 1, 1], [2, 3]), *numbers[1:]]),
        ("branches_model", branches, [1, 2, 4, 4], [1, 2, 4, 4],
         [onnx.floats("w", [2, 2, 3, 3], range(36)), onnx.floats("u", [2, 2, 1, 1], range(4)), *numbers[1:5]]),
        ("lines_model", apart_lines, [1, 2, 4, 4], [1, 2, 4, 4], [onnx.floats("w", [2, 2, 1, 3], range(12)), onnx.floats("u", [2, 2, 3, 1], range(12))]),
        ("layer_model", layer, [2, 8], [2, 4], [onnx.floats("w", [8, 4], range(32)), onnx.floats("b", [4], [-9, 1, 2, -8])]))
    # x [n, 64] times a matrix of 64 x 32, and the same matrix in a separate file.
    rows, columns = onnx.value("x", onnx.FLOAT, ["n", 64]), onnx.value("y", onnx.FLOAT, ["n", 32])
    product = [onnx.node("MatMul", ["x", "w"], ["y"])]
    matrix = [((i * 37) % 101 - 50) / 64 for i in range(64 * 32)]
    apart = onnx.tensor("w", [64, 32], onnx.FLOAT, external={"location": "data", "offset": "0"})
    # A branch with a table, beside one that has no form.
    taken = onnx.graph([onnx.node("Add", ["x", "t"], ["a"])], [], [onnx.field(1, "a")], [onnx.floats("t", [32, 1, 64], matrix)])
    other = onnx.graph([onnx.node("NoSuchOperator", ["x"], ["b"])], [], [onnx.field(1, "b")])
    guarded = [onnx.node("Size", ["x"], ["s"]), onnx.node("Greater", ["s", "zero"], ["c"]),
               onnx.node("If", ["c"], ["y"], then_branch=taken, else_branch=other)]
    sums = onnx.value("y", onnx.FLOAT, [32, "n", 64])
    # A model of 200 bytes produces 64 KiB.
    grown = [onnx.node("ConstantOfShape", ["s"], ["z"]), onnx.node("Add", ["z", "x"], ["y"])]
    one = onnx.value("x", onnx.FLOAT, [1])
    # A convolution between values that are quantised and dequantised: (x - 1) / 2 as codes, weights of codes 3 and -5.
    small = onnx.value("x", onnx.FLOAT, [1, 1, 2, 2])
    pair = ["s", "z"]
    coded = [onnx.node("QuantizeLinear", ["x", *pair], ["xq"]), onnx.node("DequantizeLinear", ["xq", *pair], ["xd"]),
             onnx.node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0), onnx.node("Conv", ["xd", "wd"], ["c"]),
             onnx.node("QuantizeLinear", ["c", *pair], ["cq"]), onnx.node("DequantizeLinear", ["cq", *pair], ["cd"]),
             onnx.node("MaxPool", ["cd"], ["p"], kernel_shape=[1, 1]), onnx.node("QuantizeLinear", ["p", *pair], ["pq"]),
             onnx.node("DequantizeLinear", ["pq", *pair], ["y"])]
    steps = [onnx.floats("s", [], [0.5]), onnx.tensor("z", [], onnx.INT8, b"\x02"), onnx.floats("ws", [2], [0.25, 0.5]),
             onnx.tensor("wz", [2], onnx.INT8, b"\0\0"), onnx.tensor("w", [2, 1, 1, 1], onnx.INT8, b"\x03\xfb")]
    # A product and its bias, a GELU and a normalisation, as exporters write them: three operators.
    chain = [onnx.node("MatMul", ["x", "w"], ["m"]), onnx.node("Add", ["b", "m"], ["f"]), onnx.node("Div", ["f", "root"], ["d"]),
             onnx.node("Erf", ["d"], ["e"]), onnx.node("Add", ["e", "one"], ["o"]), onnx.node("Mul", ["f", "o"], ["p"]),
             onnx.node("Mul", ["p", "half"], ["g"]), onnx.node("ReduceMean", ["g"], ["u"], axes=[-1]), onnx.node("Sub", ["g", "u"], ["c"]),
             onnx.node("Pow", ["c", "two"], ["q"]), onnx.node("ReduceMean", ["q"], ["v"], axes=[-1]), onnx.node("Add", ["v", "eps"], ["a"]),
             onnx.node("Sqrt", ["a"], ["r"]), onnx.node("Div", ["c", "r"], ["n"]), onnx.node("Mul", ["n", "b"], ["s"]),
             onnx.node("Add", ["s", "b"], ["y"])]
    scalars = [onnx.floats(name, [], [value]) for name, value in (("root", 2 ** .5), ("one", 1), ("half", .5), ("two", 2), ("eps", 1e-5))]
    scalars += [onnx.floats("w", [64, 32], matrix), onnx.floats("b", [32], [i / 8 for i in range(32)])]
    # Heads that apply the same weights to maps of two sizes, and one with another bias.
    heads = [onnx.node("Conv", ["x", "w", "b"], ["large"]), onnx.node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
             onnx.node("Conv", ["p", "w", "b"], ["small"]), onnx.node("Conv", ["x", "w", "d"], ["other"])]
    weights = [onnx.floats("w", [32, 64, 1, 1], matrix), onnx.floats("b", [32], range(32)), onnx.floats("d", [32], range(32, 64))]
    maps = [onnx.value(name, onnx.FLOAT, [1, 32, side, side]) for name, side in (("large", 8), ("small", 4), ("other", 8))]
    lines = ["/* Made by write_header.py. */"]
    data = onnx.model(onnx.graph(heads, [onnx.value("x", onnx.FLOAT, [1, 64, 8, 8])], maps, weights))
    lines.append(f"static const unsigned char heads_model[] = {{{', '.join(map(str, data))}}};")
    data = onnx.model(onnx.graph(chain, [rows], [columns], scalars), opset=17)
    lines.append(f"static const unsigned char chain_model[] = {{{', '.join(map(str, data))}}};")
    data = onnx.model(onnx.graph(coded, [small], [onnx.value("y", onnx.FLOAT, [1, 2, 2, 2])], steps))
    lines.append(f"static const unsigned char coded_model[] = {{{', '.join(map(str, data))}}};")
    for name, nodes, x_, y_, constants in (("matrix_model", product, rows, columns, [onnx.floats("w", [64, 32], matrix)]),
                                           ("guarded_model", guarded, rows, sums, [onnx.ints("zero", [], [0])]),
                                           ("faint_model", product, rows, columns, [onnx.floats("w", [64, 32], [one / 2 ** 20 for one in matrix])]),
                                           ("endless_model", product, rows, columns, [onnx.floats("w", [64, 32], [float("inf"), *matrix[1:]])]),
                                           ("apart_model", product, rows, columns, [apart]),
                                           ("grown_model", grown, one, columns, [onnx.ints("s", [1], [16384])])):
        data = onnx.model(onnx.graph(nodes, [x_], [y_], constants))
        lines.append(f"static const unsigned char {name}[] = {{{', '.join(map(str, data))}}};")
    for name, nodes in models.items():
        data = onnx.model(onnx.graph(nodes, [x], [y]))
        lines.append(f"static const unsigned char {name}[] = {{{', '.join(map(str, data))}}};")
    for name, nodes, before, after, constants in behind:
        data = onnx.model(onnx.graph(nodes, [onnx.value("x", onnx.FLOAT, before)], [onnx.value("y", onnx.FLOAT, after)], constants), opset=17)
        lines.append(f"static const unsigned char {name}[] = {{{', '.join(map(str, data))}}};")
    data = onnx.model(onnx.graph(folded, [picture], [result], numbers))
    lines.append(f"static const unsigned char folded_model[] = {{{', '.join(map(str, data))}}};")
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
