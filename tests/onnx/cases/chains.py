"""Groups of operators that stand for one operator."""
import numpy as np
from onnx import helper

from cases.packing import floats, own_case


def chain_cases():
    """Groups of operators that exporters write in place of one operator, in several orders."""
    node = helper.make_node
    real = np.float32
    numbers = {"root": real(2 ** .5), "less": real(.5 ** .5), "one": real(1), "half": real(.5), "two": real(2), "eps": real(1e-5)}
    for name, nodes in (
            ("half_last", [node("Div", ["x", "root"], ["d"]), node("Erf", ["d"], ["e"]), node("Add", ["e", "one"], ["o"]),
                           node("Mul", ["x", "o"], ["p"]), node("Mul", ["p", "half"], ["y"])]),
            ("half_of_sum", [node("Mul", ["less", "x"], ["d"]), node("Erf", ["d"], ["e"]), node("Add", ["one", "e"], ["o"]),
                             node("Mul", ["half", "o"], ["p"]), node("Mul", ["p", "x"], ["y"])]),
            ("half_first", [node("Div", ["x", "root"], ["d"]), node("Erf", ["d"], ["e"]), node("Add", ["e", "one"], ["o"]),
                            node("Mul", ["x", "half"], ["p"]), node("Mul", ["p", "o"], ["y"])]),
            ("not_one", [node("Div", ["x", "root"], ["d"]), node("Erf", ["d"], ["e"]), node("Add", ["e", "two"], ["o"]),
                         node("Mul", ["x", "o"], ["p"]), node("Mul", ["p", "half"], ["y"])])):
        yield own_case(f"gelu_{name}", nodes, {"x": floats(3, 7)}, numbers, free=("x",))
    scale = {"g": floats(6), "b": floats(6), **numbers}
    mean = node("ReduceMean", ["x"], ["m"], axes=[-1])
    centre = node("Sub", ["x", "m"], ["c"])
    rest = [node("ReduceMean", ["q"], ["v"], axes=[-1]), node("Add", ["v", "eps"], ["a"]), node("Sqrt", ["a"], ["r"])]
    for name, nodes in (
            ("power", [mean, centre, node("Pow", ["c", "two"], ["q"]), *rest, node("Div", ["c", "r"], ["n"]), node("Mul", ["n", "g"], ["s"]),
                       node("Add", ["s", "b"], ["y"])]),
            ("product", [mean, centre, node("Mul", ["c", "c"], ["q"]), *rest, node("Sub", ["x", "m"], ["z"]), node("Div", ["z", "r"], ["n"]),
                         node("Mul", ["g", "n"], ["y"])]),
            ("plain", [mean, centre, node("Mul", ["c", "c"], ["q"]), *rest, node("Div", ["c", "r"], ["y"])]),
            ("other_axis", [node("ReduceMean", ["x"], ["m"], axes=[1]), centre, node("Mul", ["c", "c"], ["q"]), *rest,
                            node("Div", ["c", "r"], ["y"])])):
        yield own_case(f"layer_norm_{name}", nodes, {"x": floats(2, 5, 6)}, scale, opset=17)


def rms_cases():
    """x / sqrt(mean(x * x) + epsilon) in the exporters' form, and groups that only look like it."""
    node = helper.make_node
    c = {"two": np.float32(2), "eps": np.float32(1e-5), "one": np.float32(1), "g": floats(6), "h": floats(5, 1)}
    root = [node("ReduceMean", ["q"], ["v"], axes=[-1]), node("Add", ["v", "eps"], ["a"]), node("Sqrt", ["a"], ["r"])]
    power, product = node("Pow", ["x", "two"], ["q"]), node("Mul", ["x", "x"], ["q"])
    for name, nodes in (
            ("reciprocal", [power, *root, node("Reciprocal", ["r"], ["i"]), node("Mul", ["x", "i"], ["n"]), node("Mul", ["g", "n"], ["y"])]),
            ("one_by", [product, *root, node("Div", ["one", "r"], ["i"]), node("Mul", ["i", "x"], ["n"]), node("Mul", ["n", "g"], ["y"])]),
            ("divided", [power, *root, node("Div", ["x", "r"], ["n"]), node("Mul", ["n", "g"], ["m"]), node("Add", ["m", "g"], ["y"])]),
            ("by_row", [power, *root, node("Div", ["x", "r"], ["n"]), node("Mul", ["n", "h"], ["y"])]),
            ("of_another", [power, *root, node("Neg", ["x"], ["z"]), node("Abs", ["z"], ["w"]), node("Div", ["w", "r"], ["y"])])):
        yield own_case(f"rms_{name}", nodes, {"x": floats(3, 5, 6)}, c, opset=13)


def higher_rank_cases():
    """Groups whose constants have more axes than x, so that the result has them, too."""
    node = helper.make_node
    real = np.float32
    gelu = [node("Div", ["x", "root"], ["d"]), node("Erf", ["d"], ["e"]), node("Add", ["e", "one"], ["o"]), node("Mul", ["x", "o"], ["p"]),
            node("Mul", ["p", "half"], ["y"])]
    yield own_case("gelu_of_more_axes", gelu, {"x": floats(2, 3)},
                   {"root": real(2 ** .5), "one": real(1), "half": np.full((1, 1, 1), .5, np.float32)})
    norm = [node("ReduceMean", ["x"], ["m"], axes=[-1]), node("Sub", ["x", "m"], ["c"]), node("Mul", ["c", "c"], ["q"]),
            node("ReduceMean", ["q"], ["v"], axes=[-1]), node("Add", ["v", "eps"], ["a"]), node("Sqrt", ["a"], ["r"]),
            node("Div", ["c", "r"], ["y"])]
    yield own_case("layer_norm_of_more_axes", norm, {"x": floats(4, 6)}, {"eps": np.full((1, 1, 1), 1e-5, np.float32)}, opset=17)


def near_cases():
    """Chains whose numbers are near those of GELU and of a normalisation, and differ from them; and halves of the root."""
    node = helper.make_node
    for name, root, one, half in (("one", 2 ** .5, 1.0009, .5), ("half", 2 ** .5, 1, .5009), ("root", 1.415, 1, .5),
                                  ("half_of_root", 1.4140625, 1, .5)):
        c = {key: np.float32(value) for key, value in (("d", root), ("o", one), ("h", half))}
        nodes = [node("Div", ["x", "d"], ["a"]), node("Erf", ["a"], ["e"]), node("Add", ["e", "o"], ["p"]),
                 node("Mul", ["x", "p"], ["q"]), node("Mul", ["q", "h"], ["y"])]
        yield own_case(f"near_gelu_{name}", nodes, {"x": floats(2, 4, 8)}, c, free=("x",))
    nodes = [node("ReduceMean", ["x"], ["m"], axes=[-1]), node("Sub", ["x", "m"], ["d"]), node("Pow", ["d", "t"], ["q"]),
             node("ReduceMean", ["q"], ["v"], axes=[-1]), node("Add", ["v", "e"], ["f"]), node("Sqrt", ["f"], ["r"]),
             node("Div", ["d", "r"], ["z"]), node("IsNaN", ["z"], ["n"]), node("Cast", ["n"], ["y"], to=1)]
    yield own_case("near_norm", nodes, {"x": floats(2, 4, 8)}, {"t": np.float32(2.0005), "e": np.float32(1e-3)}, opset=13)


def fed_axis_cases():
    """CumSum with a fed axis has the extents of its input, which are free."""
    for axis in (0, 1, -1):
        yield own_case(f"cumsum_fed_{axis}".replace("-", "minus_"), [helper.make_node("CumSum", ["x", "a"], ["t"]),
                                                                      helper.make_node("Neg", ["t"], ["y"])],
                       {"x": floats(3, 4), "a": np.array(axis)}, free=("x",))
