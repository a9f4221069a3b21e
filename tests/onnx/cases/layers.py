"""Convolutions and products."""
import numpy as np
from onnx import helper

from cases.packing import floats, own_case


def layer_cases():
    """Operators after layers that become parts of the layers."""
    node = helper.make_node
    def norm(count):
        return {"s": np.abs(floats(count)) + .5, "b": floats(count), "m": floats(count), "v": np.abs(floats(count)) + .5}

    for name, op, x, w, channels, attributes in (
            ("volume", "Conv", floats(1, 4, 4, 5, 5), floats(6, 2, 2, 3, 3), 6, {"group": 2}),
            ("transposed", "ConvTranspose", floats(1, 4, 5, 5), floats(4, 3, 3, 3), 3, {"strides": [2, 2]}),
            ("transposed_groups", "ConvTranspose", floats(1, 4, 5, 5), floats(4, 3, 3, 3), 6, {"group": 2}),
            ("transposed_depthwise", "ConvTranspose", floats(1, 4, 5, 5), floats(4, 1, 3, 3), 4, {"group": 4}),
            ("transposed_volume", "ConvTranspose", floats(1, 4, 3, 3, 3), floats(4, 3, 2, 2, 2), 3, {})):
        nodes = [node(op, ["x", "w"], ["c"], **attributes), node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"]),
                 node("Relu", ["n"], ["y"])]
        yield own_case(f"norm_behind_{name}", nodes, {"x": x}, {"w": w, **norm(channels)})
    yield own_case("linear_relu", [node("MatMul", ["x", "w"], ["p"]), node("Add", ["p", "b"], ["s"]), node("Relu", ["s"], ["y"])],
                   {"x": floats(2, 3, 5)}, {"w": floats(5, 4), "b": floats(4)}, free=("x",))
    yield own_case("prelu_volume", [node("PRelu", ["x", "s"], ["y"])], {"x": floats(2, 3, 4, 2, 2)}, {"s": floats(3, 1, 1, 1)})


def deformable_cases():
    """onnxruntime samples as torchvision does."""
    for name, x, w, groups, several, plane, attributes in (
            ("plain", floats(2, 4, 7, 6), floats(3, 4, 3, 2), 1, 1, (7, 5), {"pads": [1, 0, 1, 1], "strides": [1, 1], "dilations": [1, 2]}),
            ("groups", floats(1, 4, 8, 8), floats(6, 2, 3, 3), 2, 2, (4, 4), {"pads": [1, 1, 1, 1], "strides": [2, 2]})):
        taps = w.shape[2] * w.shape[3]
        feed = {"x": x, "o": floats(len(x), several * taps * 2, *plane), "m": np.abs(floats(len(x), several * taps, *plane))}
        yield own_case(f"deform_conv_{name}", [helper.make_node("DeformConv", ["x", "w", "o", "b", "m"], ["y"], group=groups,
                                                                offset_group=several, **attributes)],
                       feed, {"w": w, "b": floats(w.shape[0])}, opset=19)
        front = [helper.make_node("Conv", ["x", "a"], ["h"]),
                 helper.make_node("Conv", ["h", "e"], ["o"], kernel_shape=w.shape[2:], **attributes),
                 helper.make_node("DeformConv", ["h", "w", "o"], ["y"], group=groups, offset_group=several, **attributes)]
        yield own_case(f"deform_conv_free_{name}", front, {"x": x},
                       {"a": floats(4, 4, 1, 1), "e": floats(several * taps * 2, 4, *w.shape[2:]) * .3, "w": w}, opset=19, free=("x",))
