"""Extents that the file leaves free."""
import numpy as np
from onnx import helper

from cases.packing import floats, own_case


def free_cases():
    """Relations that two sets of numbers for free extents satisfy by chance, or do not satisfy at all."""
    node = helper.make_node
    one = {"i1": np.array([1]), "i0": np.array([0]), "m": np.array([64])}
    # 96 and 160 both become 64.
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i1"], ["n"]), node("Min", ["n", "m"], ["e"]),
             node("Slice", ["x", "i0", "e", "i1"], ["c"]), node("Shape", ["c"], ["d"]), node("Concat", ["d", "i1"], ["t"], axis=0),
             node("Conv", ["c3", "w"], ["y"], pads=[1, 1])]
    nodes.insert(6, node("Reshape", ["c", "t"], ["r"]))
    nodes.insert(7, node("Transpose", ["r"], ["c3"], perm=[0, 2, 1]))
    yield own_case("clamped_length", nodes, {"x": floats(2, 7)}, one | {"w": floats(3, 1, 3)}, free=("x",))
    # 72 of 96 with 24 of padding, 96 of 160 without any.
    sizes = {"most": np.array(48., np.float32), "top": np.array(96., np.float32), "by": np.array(32), "less": np.array(31),
             "i2": np.array(2), "i3": np.array(3), "front": np.zeros(6, np.int64), "u": np.array([0]), "head": np.array([1, 1]),
             "w": floats(2, 1, 3, 3), "g": np.array([0, 1])}
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i2"], ["h"]), node("Gather", ["s", "i3"], ["v"]),
             node("Cast", ["h"], ["hf"], to=1), node("Cast", ["v"], ["vf"], to=1), node("Min", ["hf", "vf"], ["low"]),
             node("Max", ["hf", "vf"], ["high"]), node("Div", ["most", "low"], ["r0"]), node("Div", ["top", "high"], ["r1"]),
             node("Min", ["r0", "r1"], ["r"])]
    for side in ("h", "v"):
        nodes += [node("Mul", [side + "f", "r"], [side + "m"]), node("Floor", [side + "m"], [side + "o"]),
                  node("Cast", [side + "o"], [side + "l"], to=7), node("Unsqueeze", [side + "l", "u"], [side + "n"]),
                  node("Add", [side + "n", "less"], [side + "a"]), node("Div", [side + "a", "by"], [side + "d"]),
                  node("Mul", [side + "d", "by"], [side + "q"]), node("Sub", [side + "q", side + "n"], [side + "p"])]
    nodes += [node("Concat", ["head", "hn", "vn"], ["to"], axis=0), node("Resize", ["x", "", "", "to"], ["z"], mode="linear"),
              node("Concat", ["front", "hp", "vp"], ["pads"], axis=0), node("Pad", ["z", "pads"], ["p"]),
              node("Conv", ["p", "w"], ["f"], pads=[1] * 4, strides=[2, 2]), node("Shape", ["f"], ["fs"]),
              node("Gather", ["s", "g"], ["batch"]), node("Slice", ["fs", "two", "four"], ["plane"]),
              node("ReduceProd", ["plane"], ["area"]), node("Concat", ["batch", "area"], ["shape"], axis=0),
              node("Slice", ["f", "u", "one", "one"], ["first"]), node("Reshape", ["first", "shape"], ["y"])]
    sizes |= {"two": np.array([2]), "four": np.array([4]), "one": np.array([1])}
    yield own_case("resized_and_padded", nodes, {"x": floats(1, 1, 24, 64)}, sizes, free=("x",), opset=13)
    # 32 numbers, of which 0 lie in front of the last 32, for 96 and for 160; 52 and 20 here.
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i1"], ["n"]), node("Sub", ["most", "n"], ["d"]), node("Max", ["d", "i0"], ["k"]),
             node("Add", ["k", "half"], ["e"]), node("Squeeze", ["e", "i0"], ["e0"]), node("Range", ["z", "e0", "o"], ["r"]),
             node("Slice", ["r", "i0", "last", "i0"], ["t"]), node("Cast", ["t"], ["y"], to=1)]
    yield own_case("slice_of_range", nodes, {"x": floats(2, 70)},
                   one | {"most": np.array([90]), "half": np.array([32]), "z": np.array(0), "o": np.array(1), "last": np.array([-32])},
                   free=("x",), opset=13)
    yield own_case("split_of_free", [node("Split", ["x", "z"], ["a", "y"], axis=1)], {"x": floats(2, 7)}, {"z": np.array([3, 4])},
                   ("a", "y"), free=("x",), opset=13)
    # With zeros and ones the result is certain; onnxruntime 1.32 gives the opposite.
    yield own_case("bernoulli", [node("Bernoulli", ["x"], ["y"], dtype=6)], {"x": np.array([[0, 1, 1], [1, 0, 0]], np.float32)}, free=("x",),
                   same=[node("Cast", ["x"], ["y"], to=6)])
    yield own_case("nms_all", [node("NonMaxSuppression", ["b", "s", "m", "t"], ["y"])],
                   {"b": np.abs(floats(1, 6, 4)), "s": np.abs(floats(1, 1, 6))}, {"m": np.array(2**63 - 1), "t": np.array([.3], np.float32)})
