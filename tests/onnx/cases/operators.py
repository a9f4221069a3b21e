"""Operators of onnx, and of com.microsoft."""
import numpy as np
from onnx import helper, numpy_helper

from cases.packing import RANDOM, floats, own_case


def operator_cases():
    node = helper.make_node
    x = floats(1, 2, 7, 7)
    yield own_case("conv_same_lower", [node("Conv", ["x", "w"], ["y"], auto_pad="SAME_LOWER", strides=[2, 2])],
                   {"x": floats(1, 2, 8, 8)}, {"w": floats(3, 2, 3, 3)})
    yield own_case("conv_3d_relu", [node("Conv", ["x", "w"], ["c"]), node("Relu", ["c"], ["y"])],
                   {"x": floats(1, 2, 5, 5, 5)}, {"w": floats(3, 2, 3, 3, 3)})
    yield own_case("conv_1d_groups", [node("Conv", ["x", "w", "b"], ["y"], group=2, pads=[1, 2], dilations=[2])],
                   {"x": floats(2, 4, 9)}, {"w": floats(6, 2, 3), "b": floats(6)})
    yield own_case("conv_fed_groups", [node("Conv", ["x", "w"], ["y"], group=2)], {"x": x, "w": floats(4, 1, 3, 3)})
    yield own_case("conv_depthwise", [node("Conv", ["x", "w", "b"], ["y"], group=2, pads=[1, 1, 1, 1])], {"x": x},
                   {"w": floats(2, 1, 3, 3), "b": floats(2)})
    yield own_case("conv_transpose_shape", [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], output_shape=[14, 14])],
                   {"x": x}, {"w": floats(2, 3, 3, 3)})
    yield own_case("conv_transpose_3d_groups", [node("ConvTranspose", ["x", "w", "b"], ["y"], group=2, strides=[2, 1, 2])],
                   {"x": floats(1, 4, 3, 3, 3)}, {"w": floats(4, 2, 2, 3, 2), "b": floats(4)})
    yield own_case("conv_transpose_groups", [node("ConvTranspose", ["x", "w", "b"], ["y"], group=2, strides=[2, 2],
                                                  output_padding=[1, 0])],
                   {"x": floats(1, 4, 3, 3)}, {"w": floats(4, 3, 3, 3), "b": floats(6)})
    yield own_case("conv_free", [node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1], strides=[2, 2])], {"x": x},
                   {"w": floats(3, 2, 3, 3)}, free=("x",))
    for reverse in ("reverse", "bidirectional"):
        several = 1 if reverse == "reverse" else 2
        yield own_case(f"lstm_{reverse}", [node("LSTM", ["x", "W", "R", "B"], ["y", "h", "c"], hidden_size=4, direction=reverse)],
                       {"x": floats(5, 2, 3)}, {"W": floats(several, 16, 3), "R": floats(several, 16, 4),
                                                "B": floats(several, 32)}, ("y", "h", "c"))
        for linear in (0, 1):
            yield own_case(f"gru_{reverse}_{linear}",
                           [node("GRU", ["x", "W", "R", "B"], ["y", "h"], hidden_size=4, direction=reverse,
                                 linear_before_reset=linear)],
                           {"x": floats(5, 2, 3)}, {"W": floats(several, 12, 3), "R": floats(several, 12, 4),
                                                    "B": floats(several, 24)}, ("y", "h"))
        yield own_case(f"rnn_{reverse}", [node("RNN", ["x", "W", "R", "B", "", "h0"], ["y", "h"], hidden_size=4, direction=reverse)],
                       {"x": floats(5, 2, 3), "h0": floats(several, 2, 4)},
                       {"W": floats(several, 4, 3), "R": floats(several, 4, 4), "B": floats(several, 8)}, ("y", "h"))
    yield own_case("global_lp_pool", [node("GlobalLpPool", ["x"], ["y"], p=3)], {"x": x})
    yield own_case("max_roi_pool", [node("MaxRoiPool", ["x", "r"], ["y"], pooled_shape=[2, 2], spatial_scale=0.5)],
                   {"x": x, "r": np.array([[0, 1, 1, 9, 9], [0, 0, 2, 6, 12]], np.float32)})
    yield own_case("upsample_linear", [node("Upsample", ["x", "s"], ["y"], mode="linear")], {"x": x},
                   {"s": np.array([1, 1, 2, 2], np.float32)}, opset=9)
    yield own_case("softmax_12", [node("Softmax", ["x"], ["y"], axis=1)], {"x": x}, opset=12)
    yield own_case("pad_axes", [node("Pad", ["x", "p", "", "a"], ["y"])], {"x": floats(2, 3, 4)},
                   {"p": np.array([1, 2], np.int64), "a": np.array([1], np.int64)})
    yield own_case("slice_far_end", [node("Slice", ["x", "s", "e", "a", "t"], ["y"])], {"x": floats(4, 5)},
                   {"s": np.array([-100, 4]), "e": np.array([2**62, -2**62]), "a": np.array([0, 1]), "t": np.array([1, -2])})
    yield own_case("gather_negative_fed", [node("Gather", ["x", "i"], ["y"], axis=1)],
                   {"x": floats(3, 5), "i": np.array([-1, 0, -5])})
    yield own_case("resize_antialias", [node("Resize", ["x", "", "s"], ["y"], mode="linear", antialias=1)], {"x": x},
                   {"s": np.array([1, 1, .5, .5], np.float32)})
    yield own_case("resize_free", [node("Resize", ["x", "", "s"], ["y"], mode="linear")], {"x": x},
                   {"s": np.array([1, 1, 2.5, 2.5], np.float32)}, free=("x",))
    yield own_case("flatten_free", [node("Shape", ["x"], ["s"]), node("Gather", ["s", "i"], ["n"]), node("Unsqueeze", ["n", "i0"], ["u"]),
                                    node("Concat", ["u", "m"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"])],
                   {"x": floats(3, 2, 4)}, {"i": np.array(0), "i0": np.array([0]), "m": np.array([-1])}, free=("x",))
    yield own_case("cast_to_bool", [node("Cast", ["x"], ["b"], to=9), node("Cast", ["b"], ["y"], to=1)],
                   {"x": np.array([5, 0, -2], np.float32)})
    yield own_case("output_is_input", [node("Relu", ["x"], ["h"]), node("Identity", ["x"], ["y"])], {"x": floats(3)}, outputs=("h", "y"))
    yield own_case("output_twice", [node("Relu", ["x"], ["h"]), node("Identity", ["h"], ["y"])], {"x": floats(3)}, outputs=("h", "y"))
    quantised = {"as": np.float32(.03), "az": np.uint8(128), "bs": np.float32(.02), "bz": np.uint8(120), "ys": np.float32(.05),
                 "yz": np.uint8(110)}
    codes = {"a": RANDOM.integers(0, 255, (3, 4)).astype(np.uint8), "b": RANDOM.integers(0, 255, (3, 4)).astype(np.uint8)}
    for op in ("QLinearAdd", "QLinearMul"):
        yield own_case(op.lower(), [node(op, ["a", "as", "az", "b", "bs", "bz", "ys", "yz"], ["y"], domain="com.microsoft")],
                       codes, quantised, tolerance=1.0)
    yield own_case("contrib_rotary", [node("RotaryEmbedding", ["x", "p", "c", "s"], ["y"], domain="com.microsoft")],
                   {"x": floats(2, 3, 4, 6), "p": np.array([[0, 2, 1, 5], [3, 4, 1, 0]])}, {"c": floats(8, 3), "s": floats(8, 3)})
    yield from more_operators(node, x)


def more_operators(node, x):
    def contrib(name, inputs, feed, constants=None, outputs=("y",), tolerance=1e-4, **attributes):
        listed = [""] * (4 - len(outputs)) if len(outputs) == 2 else []
        made = node(name, inputs, [outputs[0]] + listed + list(outputs[1:]), domain="com.microsoft", **attributes)
        return own_case(name.lower(), [made], feed, constants, outputs, tolerance=tolerance)

    yield own_case("matmul_rank_1", [node("MatMul", ["x", "w"], ["y"])], {"x": floats(4), "w": floats(4)})
    yield own_case("mish", [node("Mish", ["x"], ["y"])], {"x": floats(3, 7) * 9})
    yield own_case("celu", [node("Celu", ["x"], ["y"], alpha=0.5)], {"x": floats(3, 7)})
    yield own_case("col2im", [node("Col2Im", ["x", "s", "b"], ["y"], pads=[1, 0, 1, 0], strides=[2, 1])], {"x": floats(2, 12, 6)},
                   {"s": np.array([3, 4]), "b": np.array([2, 2])})
    hidden = {"x": floats(2, 3, 8), "z": floats(2, 3, 8)}
    gamma, beta, bias = floats(8), floats(8), floats(8)
    yield contrib("Gelu", ["x"], {"x": floats(3, 5)})
    yield contrib("QuickGelu", ["x"], {"x": floats(3, 5)})
    yield contrib("BiasGelu", ["x", "b"], {"x": floats(3, 8)}, {"b": bias})
    yield contrib("FastGelu", ["x", "b"], {"x": floats(3, 8)}, {"b": bias})
    yield contrib("FusedMatMul", ["x", "w"], {"x": floats(2, 4, 3), "w": floats(4, 5)}, alpha=0.5, transA=1)
    yield contrib("SkipLayerNormalization", ["x", "z", "g", "e", "b"], hidden, {"g": gamma, "e": beta, "b": bias}, ("y", "s"))
    yield contrib("SkipSimplifiedLayerNormalization", ["x", "z", "g", "b"], hidden, {"g": gamma, "b": bias}, ("y", "s"))
    yield own_case("simplifiedlayernormalization", [node("SimplifiedLayerNormalization", ["x", "g"], ["y"], axis=-1)],
                   {"x": hidden["x"]}, {"g": gamma})
    yield contrib("FusedConv", ["x", "w", "b"], {"x": x}, {"w": floats(3, 2, 3, 3), "b": floats(3)}, activation="LeakyRelu",
                  activation_params=[0.1])
    for bits in (4, 8):
        packed_size = 32 * bits // 8
        yield own_case(f"matmulnbits_{bits}",
                       [node("MatMulNBits", ["x", "w", "s", "z"], ["y"], domain="com.microsoft", K=40, N=3, bits=bits, block_size=32)],
                       {"x": floats(2, 40)}, {"w": RANDOM.integers(0, 255, (3, 2, packed_size)).astype(np.uint8),
                                              "s": np.abs(floats(6)) * .1,
                                              "z": RANDOM.integers(0, 255, 3 * (1 if bits == 4 else 2)).astype(np.uint8)})
    yield own_case("dynamic_quantisation",
                   [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node("MatMulInteger", ["q", "w", "z"], ["m"]),
                    node("Cast", ["m"], ["f"], to=1), node("Mul", ["f", "s"], ["y"])],
                   {"x": floats(4, 6)}, {"w": RANDOM.integers(-127, 127, (6, 3)).astype(np.int8)})
    pictures = RANDOM.integers(0, 255, (1, 2, 7, 7)).astype(np.uint8)
    yield own_case("qlinearconv", [node("QLinearConv", ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["y"])], {"x": pictures},
                   {"xs": np.float32(.03), "xz": np.uint8(128), "w": RANDOM.integers(-127, 127, (3, 2, 3, 3)).astype(np.int8),
                    "ws": np.array([.01, .02, .015], np.float32), "wz": np.zeros(3, np.int8), "ys": np.float32(.1), "yz": np.uint8(120),
                    "b": RANDOM.integers(-999, 999, 3).astype(np.int32)}, tolerance=1.0)


def resize_cases():
    """Bilinear pictures made smaller as torch does it: samples outside of the picture do not count."""
    for name, size in ("down", [1, 2, 7, 9]), ("both", [1, 2, 31, 5]):
        yield own_case(f"resize_antialias_excluded_{name}",
                       [helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode="linear", antialias=1, exclude_outside=1)],
                       {"x": floats(1, 2, 14, 18)}, {"s": np.array(size)}, free=("x",))


def reduction_cases():
    """Logarithms of sums of integers, and axes of a run where an empty list has a meaning of its own."""
    numbers = {"x": RANDOM.integers(1, 9, (3, 4, 5)).astype(np.int32)}
    for op in ("ReduceLogSum", "ReduceLogSumExp", "ReduceL2"):
        yield own_case(f"{op.lower()}_of_integers", [helper.make_node(op, ["x", "a"], ["y"], keepdims=0)], numbers, {"a": np.array([1])}, free=("x",))
    for free in ({}, {"a": (0,)}):
        yield own_case(f"noop_of_fed_axes{'_free' if free else ''}", [helper.make_node("ReduceSum", ["x", "a"], ["y"], noop_with_empty_axes=1)],
                       {"x": floats(2, 3, 4), "a": np.array([1])}, free=free)


def operand_cases():
    """Operators whose operands are computed from what a run feeds, beside a result whose shape is open."""
    node = helper.make_node
    signal = {"x": floats(1, 8, 1)}
    for length in (6, 8):
        yield own_case(f"dft_fed_length_{length}", [node("DFT", ["x", "n"], ["t"], axis=1), node("Neg", ["t"], ["y"])],
                       {**signal, "n": np.array(length)}, opset=17, declared={"y": [1, "m", 2]})
    yield own_case("stft_fed_length", [node("STFT", ["x", "two", "", "n"], ["t"]), node("Neg", ["t"], ["y"])],
                   {"x": floats(1, 16), "n": np.array(4)}, {"two": np.array(2)}, opset=17)
    picture = {"x": floats(1, 2, 6, 7)}
    yield own_case("crop_fed_shape", [node("CenterCropPad", ["x", "s"], ["t"], axes=[2, 3]), node("Neg", ["t"], ["y"])],
                   {**picture, "s": np.array([4, 9])})
    yield own_case("resize_fed_sizes_of_axes", [node("Resize", ["x", "", "", "s"], ["t"], mode="linear", axes=[2, 3]), node("Neg", ["t"], ["y"])],
                   {**picture, "s": np.array([9, 4])})
    pool = {"kernel_shape": [2, 2], "strides": [2, 2]}
    yield own_case("unpool_fed_shape", [node("MaxPool", ["x"], ["p", "i"], **pool), node("MaxUnpool", ["p", "i", "s"], ["t"], **pool),
                                        node("Neg", ["t"], ["y"])], {"x": floats(1, 1, 4, 4), "s": np.array([1, 1, 5, 4])})


def exact_cases():
    """Products and sums of integers above 2^24; numbers above 2^31 that are only moved; parameters that are 0."""
    node = helper.make_node
    large = np.array([[16777217, 3, -16777219], [5, 33554433, 7]])
    for kind in (np.int32, np.int64):
        name = np.dtype(kind).name
        yield own_case(f"einsum_turns_{name}", [node("Einsum", ["x"], ["y"], equation="ij->ji")], {"x": large.astype(kind)}, free=("x",))
        yield own_case(f"einsum_outer_{name}", [node("Einsum", ["a", "x"], ["y"], equation="i,ij->ij")],
                       {"x": large.astype(kind), "a": np.array([1, -1], kind)}, free=("x",))
        yield own_case(f"einsum_products_{name}", [node("Einsum", ["x", "b"], ["y"], equation="ij,jk->ik")],
                       {"x": large.astype(kind) % 100, "b": np.arange(6).reshape(3, 2).astype(kind)}, free=("x",))
    yield own_case("most_of_shape", [node("ConstantOfShape", ["s"], ["m"], value=numpy_helper.from_array(np.array([2 ** 63 - 1]))),
                                     node("Min", ["w", "m"], ["l"]), node("Add", ["x", "l"], ["y"])],
                   {"x": np.array([1, -2, 3])}, {"s": np.array([3]), "w": np.array([4, 5, -6])})
    for activation, more in (("ThresholdedRelu", {"activation_alpha": [0.0]}), ("LeakyRelu", {"activation_alpha": [0.0]}),
                             ("HardSigmoid", {"activation_alpha": [0.25], "activation_beta": [0.0]}), ("Elu", {"activation_alpha": [0.0]})):
        layer = node("RNN", ["x", "W", "R"], ["y"], hidden_size=3, activations=[activation], **more)
        yield own_case(f"rnn_{activation.lower()}_of_0", [layer], {"x": floats(4, 2, 5)}, {"W": floats(1, 3, 5), "R": floats(1, 3, 3)})
    volume = {"x": floats(2, 3, 4, 5, 6)}
    yield own_case("maxima_places_3d_1", [node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2] * 3, strides=[2] * 3, storage_order=1)],
                   volume, outputs=("y", "i"))
    scores = np.log(np.array([[0, .4, .6], [.2, .3, .5]], np.float32), where=np.array([[False, True, True], [True] * 3]),
                    out=np.full((2, 3), -np.inf, np.float32))
    yield own_case("loss_of_ignored", [node("NegativeLogLikelihoodLoss", ["x", "t"], ["y"], ignore_index=-100)],
                   {"x": scores, "t": np.array([-100, 2])})
