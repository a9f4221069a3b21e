"""Convolutions and poolings whose padding depends on free extents, as TensorFlow's files have them; names of outputs."""
from onnx import helper

from cases.packing import floats, own_case


def window_cases():
    node, same = helper.make_node, {"auto_pad": "SAME_UPPER"}
    extents = [(10,), (9, 10), (5, 6, 4)]
    for axes, space in enumerate(extents, 1):
        x = {"x": floats(1, 4, *space)}
        for kernel, stride in ((3, 2), (5, 3), (1, 2)):
            name = f"{axes}d_{kernel}_by_{stride}"
            yield own_case(f"same_conv_{name}", [node("Conv", ["x", "w", "b"], ["y"], strides=[stride] * axes, **same)], x,
                           {"w": floats(6, 4, *[kernel] * axes), "b": floats(6)}, free=("x",))
        for op in ("MaxPool", "AveragePool") if axes < 3 else ():
            yield own_case(f"same_{op.lower()}_{axes}d", [node(op, ["x"], ["y"], kernel_shape=[3] * axes, strides=[2] * axes, **same)], x,
                           free=("x",))
        for mode in "upper", "lower":
            yield own_case(f"same_{mode}_transposed_{axes}d",
                           [node("ConvTranspose", ["x", "w"], ["y"], strides=[2] * axes, auto_pad=f"SAME_{mode.upper()}")], x,
                           {"w": floats(4, 6, *[3] * axes)}, free=("x",))
        lower = {"auto_pad": "SAME_LOWER", "strides": [2] * axes}
        yield own_case(f"same_lower_conv_{axes}d", [node("Conv", ["x", "w"], ["y"], **lower)], x, {"w": floats(6, 4, *[3] * axes)},
                       free=("x",))
        if axes < 3:
            yield own_case(f"same_lower_maxpool_{axes}d", [node("MaxPool", ["x"], ["y"], kernel_shape=[5] * axes, **lower)], x,
                           free=("x",))
            for order in (0, 1) if axes == 2 else (0,):
                yield own_case(f"maxima_places_{axes}d_{order}",
                               [node("MaxPool", ["x"], ["y", "i"], kernel_shape=[3] * axes, strides=[2] * axes, storage_order=order)],
                               {"x": floats(2, 3, *space)}, free=("x",), outputs=("y", "i"))
    yield own_case("same_depthwise_one_stride", [node("Conv", ["x", "w"], ["y"], strides=[2, 1], group=4, **same)],
                   {"x": floats(1, 4, 9, 10)}, {"w": floats(4, 1, 3, 3)}, free=("x",))
    # Three outputs share one value: the first one takes its name, which is that of the last one in the file.
    yield own_case("outputs_of_one_value", [node("Relu", ["x"], ["r"]), node("Identity", ["r"], ["y"]), node("Identity", ["r"], ["z"])],
                   {"x": floats(2, 5)}, outputs=("y", "z", "r"))
