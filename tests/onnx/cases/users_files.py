"""What users' files have and node tests lack: counters that are lists, nodes in any order, averages beside quantised values, defaults
of com.microsoft."""
import numpy as np
from onnx import TensorProto, helper

from cases.packing import RANDOM, codes, floats, own_case


def beside_cases():
    """Averages and activations with quantised values on one side alone."""
    node = helper.make_node
    steps = {"s": np.float32(.02), "z": np.uint8(128), "t": np.float32(.005), "u": np.uint8(120)}

    def pair(x, y, scale="s", zero="z"):
        return [node("QuantizeLinear", [x, scale, zero], [y + "q"]), node("DequantizeLinear", [y + "q", scale, zero], [y])]

    x = {"x": floats(2, 4, 6, 8)}
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    yield own_case("average_of_floats", [node("AveragePool", ["x"], ["a"], **window), *pair("a", "y", "t", "u")], x, steps, tolerance=6e-3)
    yield own_case("mean_of_floats", [node("GlobalAveragePool", ["x"], ["a"]), *pair("a", "y", "t", "u")], x, steps, tolerance=6e-3)
    yield own_case("average_of_codes", [*pair("x", "d"), node("AveragePool", ["d"], ["y"], **window)], x, steps)
    yield own_case("mean_of_codes", [*pair("x", "d"), node("GlobalAveragePool", ["d"], ["y"])], x, steps)
    yield own_case("average_of_codes_with_padding",
                   [*pair("x", "d"), node("AveragePool", ["d"], ["y"], kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1)], x, steps)
    yield own_case("average_of_moved_codes",
                   [*pair("x", "d"), node("Transpose", ["d"], ["m"], perm=[0, 1, 3, 2]), node("AveragePool", ["m"], ["a"], **window),
                    node("Relu", ["a"], ["y"])], x, steps)
    yield own_case("resize_of_codes", [*pair("x", "d"), node("Resize", ["d", "", "", "to"], ["r"], mode="linear"),
                                       node("Transpose", ["r"], ["y"], perm=[0, 1, 3, 2])], x, steps | {"to": np.array([2, 4, 9, 13])})
    volume = {"x": floats(1, 3, 4, 4, 6)}
    yield own_case("average_of_codes_3d", [*pair("x", "d"), node("AveragePool", ["d"], ["y"], kernel_shape=[2] * 3)], volume, steps)
    # The first pair cuts at 2.5, which an activation inside of the convolution would lose.
    layer = {"w": floats(5, 4, 3, 3), "b": floats(5)}
    for name, op in ("relu", node("Relu", ["q"], ["y"])), ("relu6", node("Clip", ["q", "lo", "hi"], ["y"])):
        yield own_case(f"{name}_of_rounded_layer", [node("Conv", ["x", "w", "b"], ["c"]), *pair("c", "q"), op], x,
                       layer | steps | {"lo": np.float32(0), "hi": np.float32(6)}, tolerance=1e-2)


def file_cases():
    node = helper.make_node
    # As tf2onnx writes loops: the counter has one element.
    number, flag = TensorProto.INT64, TensorProto.BOOL
    inputs = [helper.make_tensor_value_info("i", number, [1]), helper.make_tensor_value_info("c", flag, [1]),
              helper.make_tensor_value_info("v", TensorProto.FLOAT, ["n"])]
    outputs = [helper.make_tensor_value_info("c2", flag, [1]), helper.make_tensor_value_info("v2", TensorProto.FLOAT, ["n"]),
               helper.make_tensor_value_info("k", number, [1]), helper.make_tensor_value_info("p", TensorProto.FLOAT, [1])]
    body = helper.make_graph([node("Identity", ["c"], ["c2"]), node("Identity", ["v"], ["v2"]), node("Identity", ["i"], ["k"]),
                              node("Add", ["i", "one"], ["j"]), node("Slice", ["x", "i", "j"], ["p"])], "body", inputs, outputs)
    yield own_case("counter_is_a_list", [node("Loop", ["m", "", "x"], ["y", "k", "p"], body=body)], {"x": floats(5)},
                   {"m": np.array(3), "one": np.array([1])}, ("y", "k", "p"), free=("x",))
    yield own_case("nodes_in_any_order", [node("Relu", ["b"], ["y"]), node("Mul", ["a", "x"], ["b"]), node("Sin", ["x"], ["a"])],
                   {"x": floats(2, 3)}, same=[node("Sin", ["x"], ["a"]), node("Mul", ["a", "x"], ["b"]), node("Relu", ["b"], ["y"])])
    yield own_case("joined_to_nothing", [node("Concat", ["x", "z", "x"], ["y"], axis=0)], {"x": floats(2, 3), "z": floats(0, 1)}, free=("x", "z"))
    microsoft = {"domain": "com.microsoft"}
    small = {"x": floats(2, 3, 8) * np.float32(1e-3), "z": floats(2, 3, 8) * np.float32(1e-3)}
    yield own_case("skip_norm_without_epsilon", [node("SkipLayerNormalization", ["x", "z", "g", "e"], ["y"], **microsoft)], small,
                   {"g": floats(8), "e": floats(8)})
    yield own_case("skip_rms_without_epsilon", [node("SkipSimplifiedLayerNormalization", ["x", "z", "g"], ["y"], **microsoft)], small,
                   {"g": floats(8)})
    yield own_case("microsoft_trilu", [node("Trilu", ["x"], ["y"], upper=0, **microsoft)], {"x": floats(3, 4, 5)}, free=("x",))
    yield own_case("microsoft_gridsample", [node("GridSample", ["x", "g"], ["y"], mode="bilinear", **microsoft)],
                   {"x": floats(1, 2, 5, 6), "g": np.tanh(floats(1, 4, 3, 2))}, free=("x", "g"))
    yield own_case("microsoft_range", [node("Range", ["a", "b", "c"], ["y"], **microsoft)],
                   {"a": np.array(2, np.float32), "b": np.array(9, np.float32), "c": np.array(1.5, np.float32)})
    yield own_case("matmulnbits_2", [node("MatMulNBits", ["x", "w", "s", "z"], ["y"], K=32, N=3, bits=2, block_size=16, **microsoft)],
                   {"x": floats(2, 32)}, {"w": codes(np.uint8, 3, 2, 4), "s": np.abs(floats(6)) * .1, "z": codes(np.uint8, 3)})
    yield own_case("matmulnbits_2_symmetric", [node("MatMulNBits", ["x", "w", "s"], ["y"], K=32, N=3, bits=2, block_size=16, **microsoft)],
                   {"x": floats(2, 32)}, {"w": codes(np.uint8, 3, 2, 4), "s": np.abs(floats(6)) * .1})
    for op, gates, names in ("RNN", 1, ["Tanh"]), ("LSTM", 4, ["Sigmoid", "Tanh", "Tanh"]), ("GRU", 3, ["Sigmoid", "Tanh"]):
        yield own_case(f"both_directions_{op.lower()}", [node(op, ["x", "w", "r", "", "n"], ["y"], hidden_size=3, direction="bidirectional",
                                                              activations=names * 2)],
                       {"x": floats(5, 2, 4), "n": np.array([3, 5], np.int32)}, {"w": floats(2, 3 * gates, 4), "r": floats(2, 3 * gates, 3)})
    # Sums of integers behind Winograd's algorithm are whole numbers, and not cut to the next one towards zero.
    yield own_case("whole_sums", [node("ConvInteger", ["x", "w"], ["y"], pads=[1] * 4)], {"x": codes(np.uint8, 1, 16, 12, 12)},
                   {"w": RANDOM.integers(-60, 60, (16, 16, 3, 3)).astype(np.int8)}, tolerance=1.0)
