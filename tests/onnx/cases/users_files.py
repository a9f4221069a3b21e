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
    yield own_case("average_of_joined_codes", [*pair("x", "d"), node("Concat", ["d", "d"], ["j"], axis=1),
                                               node("AveragePool", ["j"], ["y"], **window)], x, steps)
    yield own_case("resize_of_codes", [*pair("x", "d"), node("Resize", ["d", "", "", "to"], ["r"], mode="linear"),
                                       node("Transpose", ["r"], ["y"], perm=[0, 1, 3, 2])], x, steps | {"to": np.array([2, 4, 9, 13])})
    volume = {"x": floats(1, 3, 4, 4, 6)}
    yield own_case("average_of_codes_3d", [*pair("x", "d"), node("AveragePool", ["d"], ["y"], kernel_shape=[2] * 3)], volume, steps)
    # The first pair clamps at 2.5; this would be lost if the activation became a part of the convolution.
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
    # As torch exports x.squeeze(): the rank of the result is that of the exporter's batch.
    squeezed = [node("Squeeze", ["x"], ["s"]), node("Mul", ["s", "s"], ["y"])]
    for name, batch, shape in ("one", 1, ["k"]), ("several", 3, ["b", "k"]):
        yield own_case(f"squeezed_batch_of_{name}", squeezed, {"x": floats(batch, 4, 1)}, outputs=("s", "y"), opset=11, free={"x": (0,)},
                       declared={"s": shape, "y": shape})
    halves = [node("Squeeze", ["x"], ["s"]), node("Slice", ["s"], ["l"], axes=[0], starts=[0], ends=[2]),
              node("Slice", ["s"], ["r"], axes=[0], starts=[2], ends=[4]), node("Concat", ["r", "l"], ["y"], axis=0)]
    yield own_case("squeezed_batch_of_an_output", halves, {"x": floats(1, 4)}, opset=9, free={"x": (0,)}, declared={"y": ["k"]})
    microsoft = {"domain": "com.microsoft"}
    small = {"x": floats(2, 3, 8) * np.float32(1e-3), "z": floats(2, 3, 8) * np.float32(1e-3)}
    yield own_case("skip_norm_without_epsilon", [node("SkipLayerNormalization", ["x", "z", "g", "e"], ["y"], **microsoft)], small,
                   {"g": floats(8), "e": floats(8)})
    yield own_case("skip_rms_without_epsilon", [node("SkipSimplifiedLayerNormalization", ["x", "z", "g"], ["y"], **microsoft)], small,
                   {"g": floats(8)})
    layer = {"w": floats(16, 8), "c": floats(8, 1)}
    yield own_case("gemm_with_number_for_each_row", [node("Gemm", ["x", "w", "c"], ["y"])], {"x": floats(8, 16)}, layer)
    yield own_case("rotary_without_number_of_heads", [node("RotaryEmbedding", ["x", "p", "cos", "sin"], ["y"], **microsoft)],
                   {"x": floats(2, 5, 24), "p": np.tile(np.arange(5), (2, 1))}, {"cos": floats(9, 4), "sin": floats(9, 4)}, free=("x",))
    yield own_case("microsoft_trilu", [node("Trilu", ["x"], ["y"], upper=0, **microsoft)], {"x": floats(3, 4, 5)}, free=("x",))
    yield own_case("microsoft_gridsample", [node("GridSample", ["x", "g"], ["y"], mode="bilinear", **microsoft)],
                   {"x": floats(1, 2, 5, 6), "g": np.tanh(floats(1, 4, 3, 2))}, free=("x", "g"))
    yield own_case("microsoft_range", [node("Range", ["a", "b", "c"], ["y"], **microsoft)],
                   {"a": np.array(2, np.float32), "b": np.array(9, np.float32), "c": np.array(1.5, np.float32)})
    yield own_case("microsoft_range_without_delta", [node("Range", ["a", "b"], ["y"], **microsoft)],
                   {"a": np.array(2, np.float32), "b": np.array(9, np.float32)})
    yield own_case("matmulnbits_2", [node("MatMulNBits", ["x", "w", "s", "z"], ["y"], K=32, N=3, bits=2, block_size=16, **microsoft)],
                   {"x": floats(2, 32)}, {"w": codes(np.uint8, 3, 2, 4), "s": np.abs(floats(6)) * .1, "z": codes(np.uint8, 3)})
    yield own_case("matmulnbits_2_symmetric", [node("MatMulNBits", ["x", "w", "s"], ["y"], K=32, N=3, bits=2, block_size=16, **microsoft)],
                   {"x": floats(2, 32)}, {"w": codes(np.uint8, 3, 2, 4), "s": np.abs(floats(6)) * .1})
    for op, gates, names in ("RNN", 1, ["Tanh"]), ("LSTM", 4, ["Sigmoid", "Tanh", "Tanh"]), ("GRU", 3, ["Sigmoid", "Tanh"]):
        yield own_case(f"both_directions_{op.lower()}", [node(op, ["x", "w", "r", "", "n"], ["y"], hidden_size=3, direction="bidirectional",
                                                              activations=names * 2)],
                       {"x": floats(5, 2, 4), "n": np.array([3, 5], np.int32)}, {"w": floats(2, 3 * gates, 4), "r": floats(2, 3 * gates, 3)})
    # A single scale has no axis: onnxruntime writes one of 1 next to lists.
    yield own_case("list_with_an_axis", [node("QuantizeLinear", ["x", "s", "z"], ["q"], axis=1), node("DequantizeLinear", ["q", "s", "z"], ["d"], axis=1),
                                         node("DequantizeLinear", ["b", "t"], ["e"], axis=1), node("Add", ["d", "e"], ["y"])],
                   {"x": floats(7)}, {"s": np.float32(.02), "z": np.uint8(120), "b": codes(np.int32, 7), "t": np.array([.001], np.float32)}, opset=13,
                   tolerance=.02)
    # torch's tensor_split: a loop of known rounds that carries a sequence.
    part = [node("Unsqueeze", ["i", "zero"], ["at"]), node("Add", ["at", "one"], ["then"]), node("Gather", ["places", "at"], ["from"], axis=0),
            node("Gather", ["places", "then"], ["to"], axis=0), node("Slice", ["x", "from", "to", "one"], ["part"]),
            node("SequenceInsert", ["before", "part"], ["after"]), node("ReduceSum", ["part"], ["sum"], keepdims=0)]
    lists = helper.make_tensor_sequence_value_info

    def rounds_of(name, tail, goes_on, **more):
        body = helper.make_graph(part + tail, "body", [helper.make_tensor_value_info("i", 7, []), helper.make_tensor_value_info("c", 9, []),
                                                       lists("before", 1, None)],
                                 [helper.make_tensor_value_info(goes_on, 9, []), lists("after", 1, None), helper.make_tensor_value_info("sum", 1, [])])
        nodes = [node("SequenceEmpty", [], ["none"], dtype=1), node("Loop", ["rounds", "true", "none"], ["all", "s"], body=body),
                 node("ConcatFromSequence", ["all"], ["y"], axis=1)]
        return own_case(name, nodes, {"x": floats(3, 9)}, {"rounds": np.array(3), "true": np.array(True), "zero": np.array([0]), "one": np.array([1]),
                                                           "places": np.array([6, 8, 1, 4]), **more}, ("y", "s"), opset=17, free={"x": (0,)})

    yield rounds_of("loop_with_sequence", [node("Identity", ["true"], ["d"])], "d")
    yield rounds_of("loop_with_sequence_that_ends", [node("Less", ["i", "zeroth"], ["d"])], "d", zeroth=np.array(1))
    # Winograd's algorithm gives sums of integers that are slightly off: they are rounded, not cut towards zero.
    yield own_case("whole_sums", [node("ConvInteger", ["x", "w"], ["y"], pads=[1] * 4)], {"x": codes(np.uint8, 1, 16, 12, 12)},
                   {"w": RANDOM.integers(-60, 60, (16, 16, 3, 3)).astype(np.int8)})


def detector_cases():
    """As torchvision writes detectors: pictures resized to a least side, levels in one row, places that are found twice."""
    node = helper.make_node
    numbers = {"roi": np.zeros(0, np.float32), "i0": np.array([0]), "i1": np.array([1]), "i2": np.array([2]), "i4": np.array([4]),
               "side": np.array([96], np.float32), "ones": np.ones(2, np.float32), "flat": np.array([1, -1]), "z": np.array(0), "o": np.array(1)}
    levels = [node("Shape", ["x"], ["s"]), node("Slice", ["s", "i2", "i4", "i0"], ["hw"]), node("ReduceMin", ["hw"], ["least"], axes=[0]),
              node("Cast", ["least"], ["lf"], to=1), node("Div", ["side", "lf"], ["by"]), node("Concat", ["ones", "by", "by"], ["scales"], axis=0),
              node("Resize", ["x", "roi", "scales"], ["p"], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
              node("MaxPool", ["p"], ["p2"], kernel_shape=[2, 2], strides=[2, 2]), node("Shape", ["p"], ["sp"]), node("Shape", ["p2"], ["sp2"])]
    row = [node("Reshape", ["p", "flat"], ["pf"]), node("Reshape", ["p2", "flat"], ["pf2"]), node("Concat", ["pf", "pf2"], ["row"], axis=1),
           node("ReduceProd", ["sp"], ["n0s"], keepdims=0), node("ReduceProd", ["sp2"], ["n1s"], keepdims=0),
           node("Unsqueeze", ["n0s"], ["n0"], axes=[0]), node("Unsqueeze", ["n1s"], ["n1"], axes=[0]), node("Add", ["n0", "n1"], ["e"]),
           node("Slice", ["row", "n0", "e", "i1"], ["second"]), node("Shape", ["second"], ["y"])]
    picture = {"x": floats(1, 1, 24, 32)}
    yield own_case("level_of_a_row", levels + row, picture, numbers, ("second", "y"), opset=11, free={"x": (2, 3)})
    side = [node("Gather", ["sp", "i2"], ["h"]), node("Gather", ["sp2", "i2"], ["h2"]), node("Squeeze", ["h"], ["h0"], axes=[0]),
            node("Squeeze", ["h2"], ["h20"], axes=[0]), node("Range", ["h20", "h0", "o"], ["r"]), node("Shape", ["r"], ["y"])]
    yield own_case("range_between_levels", levels + side, {"x": floats(1, 1, 32, 24)}, numbers, opset=11, free=("x",))
    nodes = [node("Greater", ["x", "low"], ["m"]), node("NonZero", ["m"], ["p"]), node("Transpose", ["p"], ["t"], perm=[1, 0]),
             node("GatherND", ["x", "t"], ["v"]), node("NonZero", ["m"], ["q"]), node("Split", ["q"], ["rows", "columns"], axis=0),
             node("Squeeze", ["rows", "i0"], ["r"]), node("Shape", ["r"], ["s"]), node("Concat", ["most", "s"], ["ks"], axis=0),
             node("ReduceMin", ["ks"], ["k"], keepdims=0), node("Reshape", ["k", "i1"], ["k1"]), node("TopK", ["v", "k1"], ["y", "i"])]
    yield own_case("best_of_places", nodes, {"x": floats(5, 6)},
                   {"low": np.float32(.3), "i0": np.array([0]), "i1": np.array([1]), "most": np.array([20])}, ("y", "i"), opset=13)


def shift_cases():
    """x >> n of signed integers, as torch's exporter for graphs writes it: a shift of unsigned ones, whose first bits a mask
    sets where x is negative. Masks above 2^31 for the other operators over bits."""
    node, unsigned = helper.make_node, np.uint32
    x = {"x": np.array([[-9, -8, 7, 100, -2**30, 2**30 + 3, -1, 0]], np.int32)}
    for n in (1, 4, 31):
        c = {"zero": np.int32(0), "n": unsigned(n), "mask": unsigned(2**32 - 2**(32 - n))}
        nodes = [node("Less", ["x", "zero"], ["negative"]), node("Cast", ["x"], ["u"], to=TensorProto.UINT32),
                 node("BitShift", ["u", "n"], ["s"], direction="RIGHT"), node("BitwiseOr", ["s", "mask"], ["filled"]),
                 node("Cast", ["filled"], ["a"], to=TensorProto.INT32), node("Cast", ["s"], ["b"], to=TensorProto.INT32),
                 node("Where", ["negative", "a", "b"], ["y"])]
        yield own_case(f"signed_shift_{n}", nodes, x, c, free=("x",))
    for op in ("BitwiseAnd", "BitwiseXor"):
        nodes = [node("Cast", ["x"], ["u"], to=TensorProto.UINT32), node(op, ["u", "mask"], ["m"]), node("Cast", ["m"], ["y"], to=TensorProto.INT32)]
        yield own_case(f"{op.lower()}_mask", nodes, x, {"mask": unsigned(0xff00ff01)}, free=("x",))
    # A number above 2^31 is no bits: the format has no such integer.
    nodes = [node("Cast", ["mask"], ["m"], to=TensorProto.INT64), node("Min", ["i", "m"], ["y"])]
    yield own_case("unsigned_number", nodes, {"i": np.array([[-3, 0, 7]])}, {"mask": unsigned(0xff000000)})
