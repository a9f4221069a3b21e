"""Operators that become constants, draw numbers, or repeat a body."""
import numpy as np
from onnx import TensorProto, helper

from cases.packing import floats, own_case


def whole_net_cases():
    node = helper.make_node
    for name, bands, points, highest in ("wide", 20, 256, 7600.0), ("narrow", 9, 16, 8000.0):
        yield own_case(f"mel_{name}", [node("MelWeightMatrix", ["n", "p", "r", "l", "h"], ["m"]), node("MatMul", ["x", "m"], ["y"])],
                       {"x": floats(3, points // 2 + 1)}, {"n": np.array(bands), "p": np.array(points), "r": np.array(16000),
                                                           "l": np.float32(20), "h": np.float32(highest)})
    sure = np.full((3, 5), -100, np.float32)
    sure[[0, 1, 2], [4, 0, 2]] = 100
    yield own_case("multinomial", [node("Multinomial", ["x"], ["y"], sample_size=4, dtype=7)], {"x": sure}, free=("x",))
    kind = TensorProto.FLOAT
    body = helper.make_graph([node("Mul", ["e", "f"], ["p"]), node("Add", ["p", "o"], ["q"]), node("Relu", ["q"], ["r"])], "body",
                             [helper.make_tensor_value_info(key, kind, None) for key in "efo"],
                             [helper.make_tensor_value_info(key, kind, None) for key in "rq"])
    yield own_case("sequence_map", [node("SequenceConstruct", ["a", "b"], ["s"]), node("SequenceConstruct", ["b", "a"], ["t"]),
                                    node("SequenceMap", ["s", "t", "c"], ["u", "v"], body=body),
                                    node("ConcatFromSequence", ["u"], ["y"], axis=0), node("ConcatFromSequence", ["v"], ["z"], axis=1)],
                   {"a": floats(2, 3), "b": floats(2, 3), "c": floats(3)}, outputs=("y", "z"))
    # A reader of text lines, whose net is valid only for heights that become 1.
    branches = [helper.make_graph([node(op, ["h", *axes], ["r"])], op, [], [helper.make_tensor_value_info("r", kind, None)])
                for op, axes in (("Squeeze", ["two"]), ("Identity", []))]
    yield own_case("text_height", [node("MaxPool", ["x"], ["p"], kernel_shape=[4, 1], strides=[4, 1]), node("Conv", ["p", "w"], ["h"]),
                                   node("Shape", ["h"], ["s"]), node("Gather", ["s", "axis"], ["n"]),
                                   node("Equal", ["n", "one"], ["c"]), node("If", ["c"], ["q"], then_branch=branches[0], else_branch=branches[1]),
                                   node("Transpose", ["q"], ["y"], perm=[2, 0, 1])], {"x": floats(2, 1, 17, 9)},
                   {"w": floats(3, 1, 4, 2), "two": np.array([2]), "axis": np.array(2), "one": np.array(1)}, free={"x": (0, 2, 3)})
