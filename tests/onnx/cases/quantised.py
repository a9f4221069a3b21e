"""Nets with quantised values."""
import numpy as np
from onnx import TensorProto, helper

from cases.packing import codes, floats, own_case


def quantised_cases():
    """Nets of codes: outputs are codes, at most one away from onnxruntime's."""
    node = helper.make_node
    real, u8, i8 = np.float32, np.uint8, np.int8

    def pair(name, scale, zero, constants):
        """Quantises and dequantises `name`, as name + "d"."""
        constants[name + "s"], constants[name + "z"] = real(scale), zero
        return [node("QuantizeLinear", [name, name + "s", name + "z"], [name + "q"]),
                node("DequantizeLinear", [name + "q", name + "s", name + "z"], [name + "d"])]

    def weights(constants, name, shape, axis, kind=i8, zero=0):
        """Codes of weights, with a scale for each position of an axis, dequantised as name + "d"."""
        count = shape[axis]
        constants[name] = codes(kind, *shape)
        constants[name + "s"] = (np.abs(floats(count)) * .01 + .005).astype(real)
        constants[name + "z"] = np.full(count, zero, kind)
        return [node("DequantizeLinear", [name, name + "s", name + "z"], [name + "d"], axis=axis)]

    for name, kind, zero, weight_kind, weight_zero in (("int8", i8, i8(-7), i8, 0), ("uint8", u8, u8(131), i8, 0),
                                                       ("relu", u8, u8(0), i8, 0), ("asymmetric", u8, u8(120), u8, 125)):
        for depthwise in (False, True):
            if depthwise and weight_zero:
                continue  # it computes with floats, which are nearer to the values than one code
            c = {"b": codes(i8, 4).astype(np.int32) * 9, "bs": np.full(4, .0004, real), "bz": np.zeros(4, np.int32)}
            nodes = pair("x", .02, kind(100), c) + weights(c, "w", (4, 1 if depthwise else 4, 3, 3), 0, weight_kind, weight_zero)
            nodes += [node("DequantizeLinear", ["b", "bs", "bz"], ["bd"], axis=0),
                      node("Conv", ["xd", "wd", "bd"], ["y"], pads=[1] * 4, strides=[2, 2], group=4 if depthwise else 1)]
            nodes += pair("y", .05, zero, c)
            yield own_case(f"qdq_conv_{name}{'_depthwise' if depthwise else ''}", nodes, {"x": floats(2, 4, 7, 7)}, c, ("yq",),
                           free=("x",), tolerance=1.0)
    c = {}
    nodes = pair("x", .02, u8(128), c) + weights(c, "w", (12, 5), 1) + [node("MatMul", ["xd", "wd"], ["m"])]
    nodes += pair("m", .03, u8(120), c) + [node("Relu", ["md"], ["r"])] + pair("r", .02, u8(0), c)
    yield own_case("qdq_matmul", nodes, {"x": floats(2, 3, 12)}, c, ("rq",), free=("x",), tolerance=1.0)
    c = {"b": floats(6)}
    nodes = pair("x", .02, i8(3), c) + weights(c, "w", (6, 8), 0) + [node("Gemm", ["xd", "wd", "b"], ["y"], transB=1)]
    yield own_case("qdq_gemm", nodes + pair("y", .03, i8(-3), c), {"x": floats(3, 8)}, c, ("yq",), free=("x",), tolerance=1.0)
    # A layer reads a value as codes and an addition reads it as floats; another value is quantised in two ways.
    c = {}
    nodes = [node("Relu", ["x"], ["a"])] + pair("a", .1, u8(0), c) + weights(c, "w", (4, 4, 1, 1), 0)
    nodes += [node("Conv", ["ad", "wd"], ["h"]), node("Add", ["h", "a"], ["y"])]
    yield own_case("qdq_read_elsewhere", nodes, {"x": floats(1, 4, 5, 5) * 3}, c, tolerance=1e-2)
    c = {"t": real(.3), "tz": u8(9)}
    nodes = pair("x", .02, u8(128), c) + [node("QuantizeLinear", ["x", "t", "tz"], ["y"]), node("Mul", ["xd", "xd"], ["m"])]
    yield own_case("qdq_two_steps", nodes + pair("m", .05, u8(0), c), {"x": floats(3, 5)}, c, ("y", "mq"), tolerance=1.0)
    # Codes are moved, joined and pooled between two layers of codes.
    c = {"w": codes(i8, 4, 4, 1, 1), "ws": real(.01), "wz": i8(0), "s": np.array([1, 4, -1])}
    layer = ["xs", "xz", "w", "ws", "wz"]
    nodes = [pair("x", .02, u8(120), c)[0], node("QLinearConv", ["xq", *layer, "xs", "xz"], ["a"]),
             node("MaxPool", ["a"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), node("Concat", ["p", "p"], ["k"], axis=2),
             node("Transpose", ["k"], ["t"], perm=[0, 1, 3, 2]), node("QLinearConv", ["t", *layer, "xs", "xz"], ["e"]),
             node("Reshape", ["e", "s"], ["y"])]
    yield own_case("moved_codes", nodes, {"x": floats(1, 4, 6, 6)}, c, tolerance=1.0)
    contrib = {"domain": "com.microsoft"}
    c = {"w": codes(i8, 8, 5), "ws": np.abs(floats(5)) * .01, "wz": np.zeros(5, i8), "b": codes(i8, 5).astype(np.int32) * 20,
         "ys": real(.04), "yz": u8(99), "xs": real(.02), "xz": u8(120)}
    yield own_case("qgemm", [node("QGemm", ["x", "xs", "xz", "w", "ws", "wz", "b", "ys", "yz"], ["y"], **contrib)], {"x": codes(u8, 3, 8)}, c,
                   tolerance=1.0)
    c = {"xs": real(.03), "xz": u8(120), "ys": real(.02), "yz": u8(60), "zs": real(.05), "zz": u8(130)}
    yield own_case("qlinearconcat", [node("QLinearConcat", ["ys", "yz", "x", "xs", "xz", "z", "zs", "zz"], ["y"], axis=1, **contrib)],
                   {"x": codes(u8, 2, 3, 4), "z": codes(u8, 2, 2, 4)}, c, tolerance=1.0)
    unary = ["x", "xs", "xz", "ys", "yz"]
    shares = {"xs": real(.03), "xz": u8(120), "ys": real(1 / 256), "yz": u8(0)}
    for op, feed, constants, attributes in (
            ("QLinearSigmoid", codes(u8, 3, 7), shares, {}), ("QLinearLeakyRelu", codes(u8, 3, 7), c, {"alpha": .2}),
            ("QLinearGlobalAveragePool", codes(u8, 2, 3, 4, 5), c, {"channels_last": 0}),
            ("QLinearAveragePool", codes(u8, 2, 3, 4, 5), c, {"kernel_shape": [2, 3], "pads": [0, 1, 1, 0]}),
            ("QLinearSoftmax", codes(u8, 2, 3, 9), shares, {"axis": -1, "opset": 13})):
        yield own_case(op.lower(), [node(op, unary, ["y"], **contrib, **attributes)], {"x": feed},
                       {key: constants[key] for key in unary[1:]}, tolerance=1.0)
    c = {"w": codes(i8, 32, 6), "ws": np.abs(floats(6)) * .01, "wz": np.zeros(6, i8), "b": floats(6)}
    yield own_case("dynamicquantizematmul", [node("DynamicQuantizeMatMul", ["x", "w", "ws", "wz", "b"], ["y"], **contrib)],
                   {"x": floats(2, 3, 32)}, c, free=("x",), tolerance=2e-2)
    for bits in (4, 8):
        yield own_case(f"matmulnbits_{bits}_whole",
                       [node("MatMulNBits", ["x", "w", "s", "z", "", "b"], ["y"], **contrib, K=64, N=3, bits=bits, block_size=32)],
                       {"x": floats(2, 3, 64)}, {"w": codes(u8, 3, 2, 32 * bits // 8), "s": np.abs(floats(6)) * .1,
                                                 "z": codes(u8, 3 * (1 if bits == 4 else 2)), "b": floats(3)}, free=("x",))


def rounded_cases():
    """Operators that compute with floats between quantised values: these are rounded to codes, and limited to the range
    of the codes, which most values here exceed. Results are values, at most one code away from onnxruntime's."""
    node = helper.make_node
    real, u8, i8 = np.float32, np.uint8, np.int8

    def pair(name, out, scale, zero, constants):
        constants[name + "s"], constants[name + "z"] = real(scale), zero
        return [node("QuantizeLinear", [name, name + "s", name + "z"], [name + "q"]),
                node("DequantizeLinear", [name + "q", name + "s", name + "z"], [out])]

    def case(name, nodes, feed, constants, scale, zero, free=("x",)):
        constants = dict(constants)
        front = [one for key in feed for one in pair(key, key + "d", .03, u8(120), constants)]
        back = pair("r", "v", scale, zero, constants) + [node("Relu", ["v"], ["w0"]), node("Neg", ["v"], ["y"])]
        return own_case(f"rounded_{name}", front + nodes + back, feed, constants, ("w0", "y"), free=free, tolerance=1.05 / 117, plain=True)

    x = floats(1, 4, 6, 6) * 2
    yield case("softmax", [node("Softmax", ["xd"], ["r"], axis=-1)], {"x": x}, {}, 1 / 512, i8(-60))
    yield case("mean", [node("ReduceMean", ["xd", "a"], ["r"])], {"x": x}, {"a": np.array([2, 3])}, .004, u8(60))
    yield case("product", [node("MatMul", ["xd", "bd"], ["r"])], {"x": x, "b": floats(1, 4, 6, 5)}, {}, .02, i8(10), ("x", "b"))
    yield case("transposed", [node("ConvTranspose", ["xd", "k"], ["r"], strides=[2, 2])], {"x": x}, {"k": floats(4, 3, 3, 3)}, .02, u8(99))
    yield case("floats", [node("Conv", ["xd", "k"], ["r"])], {"x": x}, {"k": floats(3, 4, 3, 3)}, .02, u8(99))
    yield case("sigmoid", [node("Sigmoid", ["xd"], ["r"])], {"x": x}, {}, 1 / 400, u8(0))
    yield case("sum_of_rows", [node("Add", ["xd", "row"], ["r"])], {"x": x}, {"row": floats(6)}, .01, u8(128))
    yield case("sum", [node("Add", ["xd", "bd"], ["r"])], {"x": x, "b": floats(1, 4, 6, 6)}, {}, .01, u8(0), ("x", "b"))
    yield case("average", [node("AveragePool", ["xd"], ["r"], kernel_shape=[3, 3])], {"x": x}, {}, .006, u8(100))
    yield case("resized", [node("Resize", ["xd", "", "f"], ["r"], mode="linear")], {"x": x}, {"f": np.array([1, 1, 2, 2], real)}, .008, u8(90))
    c = {"k": codes(u8, 4, 1, 3, 3), "ks": np.abs(floats(4)) * .01 + .005, "kz": np.full(4, 117, u8)}
    nodes = [node("DequantizeLinear", ["k", "ks", "kz"], ["kd"], axis=0), node("Conv", ["xd", "kd"], ["r"], group=4)]
    yield case("depthwise", nodes, {"x": x}, c, .02, u8(120))
    # Codes as inputs of the net.
    for kind, zero in ((u8, u8(77)), (i8, i8(-9))):
        c = {"s": real(.02), "z": zero, "k": floats(3, 4, 1, 1), "t": real(.015)}
        nodes = [node("DequantizeLinear", ["x", "s", "z"], ["d"]), node("Conv", ["d", "k"], ["c"]), node("QuantizeLinear", ["c", "t", "z"], ["y"])]
        yield own_case(f"codes_in_{np.dtype(kind).name}", nodes, {"x": codes(kind, 1, 4, 5, 5)}, c, free=("x",), tolerance=1.0,
                       plain=True)


def moved_cases():
    """Values that are quantised between two moves with other steps than before: moving codes alone would leave the
    second range out, which many values here exceed. Results are at most one code away from onnxruntime's."""
    node = helper.make_node
    real, i8 = np.float32, np.int8
    c = {"as": real(.05), "az": i8(-128), "bs": real(.02), "bz": i8(10)}

    def coded(name, steps, out):
        return [node("QuantizeLinear", [name, steps + "s", steps + "z"], [name + "q"]),
                node("DequantizeLinear", [name + "q", steps + "s", steps + "z"], [out])]

    front = [*coded("x", "a", "xd"), node("Concat", ["xd", "xd"], ["r"], axis=1), *coded("r", "b", "rd"),
             node("Transpose", ["rd"], ["t"], perm=[0, 1, 3, 2])]
    x = {"x": floats(1, 3, 6, 7) * 3}
    yield own_case("moved_twice", front + coded("t", "b", "y"), x, c, free=("x",), tolerance=1.05 / 117, plain=True)
    yield own_case("moved_and_averaged", [*front, *coded("t", "b", "td"), node("AveragePool", ["td"], ["y"], kernel_shape=[2, 2])],
                   x, c, free=("x",), tolerance=1.05 / 117, plain=True)


def shared_cases():
    """Values with several names, of which one is quantised: consumers of the others read what is neither rounded nor
    limited. QGemm with alpha, whose bias has steps of both scales times alpha."""
    node = helper.make_node
    real, u8, i8 = np.float32, np.uint8, np.int8
    c = {"s": real(.05), "w": floats(4, 4, 3, 3) / 6}
    behind = {"identity": node("Identity", ["c"], ["d"]), "cast": node("Cast", ["c"], ["d"], to=1),
              "transpose": node("Transpose", ["c"], ["d"], perm=[0, 1, 2, 3]), "concat": node("Concat", ["c"], ["d"], axis=1)}

    def coded(name):
        return [node("QuantizeLinear", [name, "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["e"])]

    for name, same in behind.items():
        for zero in (u8(0), u8(128)):
            nodes = [node("Conv", ["x", "w"], ["c"], pads=[1] * 4), same, *coded("d"), node("Relu", ["e"], ["r"]), node("Neg", ["c"], ["y"])]
            yield own_case(f"named_twice_{name}_{zero}", nodes, {"x": floats(1, 4, 6, 7)}, c | {"z": zero}, ("y", "r"), free=("x",),
                           tolerance=.051 / 4, plain=True)
    x, zero = floats(3, 5) * 9, {"z": u8(0)}
    nodes = [node("Identity", ["x"], ["d"]), *coded("d"), node("Sqrt", ["e"], ["r"]), node("Neg", ["x"], ["y"])]
    yield own_case("named_input", nodes, {"x": x}, c | zero, ("y", "r"), free=("x",), plain=True)
    for kind in (np.float16, np.float64):
        nodes = [node("Cast", ["x"], ["d"], to=1), *coded("d"), node("Sqrt", ["e"], ["y"])]
        yield own_case(f"coded_{np.dtype(kind).name}", nodes, {"x": x.astype(kind)}, c | zero, free=("x",), plain=True)
    nodes = [node("Add", ["x", "x"], ["d"]), node("Cast", ["d"], ["h"], to=10), *coded("d"), node("Neg", ["h"], ["n"]),
             node("Cast", ["n"], ["y"], to=1), node("Sqrt", ["e"], ["r"])]
    yield own_case("coded_beside_half", nodes, {"x": x}, c | zero, ("y", "r"), free=("x",), tolerance=2e-3, plain=True)
    c = {"s": real(.05), "z": u8(100), "b": codes(i8, 5, 6), "bs": real(.02), "bz": i8(3), "c": codes(i8, 6).astype(np.int32) * 4}
    for alpha in (.5, 2.0):
        yield own_case(f"qgemm_alpha_{alpha}", [node("QGemm", ["x", "s", "z", "b", "bs", "bz", "c"], ["y"], domain="com.microsoft", alpha=alpha)],
                       {"x": codes(u8, 3, 5) // 2}, c, free=("x",))


def stated_cases():
    """Values beside quantised ones that the model does not quantise, or quantises in another way: steps of neighbours are
    not theirs. Integers that are dequantised, too, are read by operators of integers."""
    node = helper.make_node
    real, u8, i8 = np.float32, np.uint8, np.int8
    c = {"s": real(.5), "z": i8(0), "t": real(.02), "tz": i8(-128), "lo": real(0), "hi": real(.7), "one": np.array([1]),
         "five": np.array([5]), "three": np.array([3]), "scales": np.array([1, 1, 2, 2], real), "w": floats(4, 3, 1, 1) / 4}

    def coded(name, out, steps=("s", "z")):
        return [node("QuantizeLinear", [name, *steps], [out + "q"]), node("DequantizeLinear", [out + "q", *steps], [out])]

    behind = {"clip": node("Clip", ["d", "lo", "hi"], ["y"]), "average": node("AveragePool", ["d"], ["y"], kernel_shape=[2, 2]),
              "global": node("GlobalAveragePool", ["d"], ["y"]), "resized": node("Resize", ["d", "", "scales"], ["y"], mode="linear"),
              "convolved": node("Conv", ["d", "w"], ["y"])}
    x = {"x": floats(2, 3, 4, 6) * 1.3}
    for name, last in behind.items():
        yield own_case(f"stated_{name}", coded("x", "d") + [last], x, c, free=("x",), plain=True)
    nodes = [*coded("x", "d"), node("Clip", ["d", "lo", "hi"], ["k"]), *coded("k", "e", ("t", "tz")), node("Sqrt", ["e"], ["y"])]
    yield own_case("stated_other_steps", nodes, x, c, free=("x",), plain=True)
    nodes = [*coded("x", "d"), node("AveragePool", ["d"], ["a"], kernel_shape=[2, 2]), node("Clip", ["a", "lo", "hi"], ["k"]),
             node("Sigmoid", ["k"], ["y"])]
    yield own_case("stated_chain", nodes, x, c, free=("x",), plain=True)
    product = [*coded("r", "d", ("t", "tz")), node("Mul", ["d", "d"], ["m"]), *coded("m", "y", ("t", "tz"))]
    beside = {"product": [node("Mul", ["v", "v"], ["w2"])], "slice": [node("Slice", ["v", "one", "five", "three"], ["w2"])],
              "negative": [node("Neg", ["v"], ["w2"])], "average": [node("AveragePool", ["v"], ["w2"], kernel_shape=[2, 2])],
              "maximum": [node("MaxPool", ["v"], ["w2"], kernel_shape=[2, 2])],
              "transpose": [node("Transpose", ["v"], ["w2"], perm=[0, 1, 3, 2])],
              "steps": [*coded("v", "e"), node("Add", ["e", "e"], ["w2"])]}
    for name, others in beside.items():
        nodes = [node("Tanh", ["x"], ["v"]), node("Relu", ["v"], ["r"]), *others, *product]
        yield own_case(f"stated_beside_{name}", nodes, x, c, ("w2", "y"), free=("x",), tolerance=.0201, plain=True)
    nodes = [node("Tanh", ["x"], ["v"]), node("Slice", ["v", "one", "five", "three"], ["w2"]), node("Identity", ["v"], ["r"]), *product]
    yield own_case("stated_moved", nodes, x, c, ("w2", "y"), free=("x",), tolerance=.0201, plain=True)
    # A move behind another one, between which values get other steps.
    first = {"pad": node("Pad", ["d", "pads"], ["p"]), "tile": node("Tile", ["d", "times"], ["p"]),
             "gather": node("Gather", ["d", "places"], ["p"], axis=2)}
    second = {"slice": node("Slice", ["e", "one", "five", "three"], ["m"]), "concat": node("Concat", ["e", "e"], ["m"], axis=1),
              "transpose": node("Transpose", ["e"], ["m"], perm=[0, 1, 3, 2])}
    own = c | {"pads": np.array([0, 0, 1, 0, 0, 0, 0, 1]), "times": np.array([1, 1, 2, 1]), "places": np.array([2, 0, 1])}
    for before, behind in (("pad", "slice"), ("tile", "concat"), ("gather", "transpose")):
        nodes = [*coded("x", "d"), first[before], *coded("p", "e", ("t", "tz")), second[behind], *coded("m", "y", ("t", "tz"))]
        yield own_case(f"stated_{before}_{behind}", nodes, x, own, free=("x",), tolerance=.0201 / 5.1, plain=True)
    # A convolution in groups whose weights have a zero point.
    own = c | {"w": codes(i8, 4, 2, 3, 3), "ws": real(.01), "wz": i8(17), "r": real(.1)}
    for group in (2, 4):
        nodes = [*coded("x", "d", ("t", "z")), node("DequantizeLinear", ["w", "ws", "wz"], ["wd"]),
                 node("Conv", ["d", "wd"], ["v"], group=group), *coded("v", "e", ("r", "z")), node("Tanh", ["e"], ["y"])]
        yield own_case(f"stated_group_{group}", nodes, {"x": floats(1, 2 * group, 5, 6)}, own, free=("x",), tolerance=.101, plain=True)
    a, b = codes(i8, 2, 3, 7, 9), codes(i8, 2, 3, 7, 9)
    for op in ("Add", "Sub", "Mul", "Min", "Max", "BitwiseXor"):
        nodes = [node(op, ["x", "b"], ["y"]), node("DequantizeLinear", ["x", "t", "z"], ["w2"])]
        yield own_case(f"dequantised_beside_{op.lower()}", nodes, {"x": a, "b": b}, {"t": real(.02), "z": i8(0)}, ("y", "w2"), free=("x",),
                       plain=True)
    nodes = [node("QuantizeLinear", ["x", "t", "z"], ["q"]), node("Pad", ["q", "pads", "z"], ["p"]),
             node("MaxPool", ["p"], ["m"], kernel_shape=[3, 3], pads=[1] * 4), node("DequantizeLinear", ["m", "t", "z"], ["y"])]
    yield own_case("padded_codes", nodes, x, {"t": real(.03), "z": i8(0), "pads": np.array([0, 0, 0, 0, 0, 0, 0, 1])}, plain=True)


def limit_cases():
    """Layers of codes that are too large for the kernels of codes compute with floats, and their results are rounded and
    limited, too: a window that spans more columns than a line holds, sums of too many products. A quantised tensor of
    zeros has the scale 1, as in onnxruntime."""
    node = helper.make_node
    real, u8, i8 = np.float32, np.uint8, np.int8
    c = {"s": real(.02), "z": u8(120), "t": real(.01), "k": codes(i8, 4, 1, 3, 3), "ks": real(.01), "kz": i8(0)}

    def between(name, layer):
        return [node("QuantizeLinear", [name, "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"]), *layer,
                node("QuantizeLinear", ["r", "t", "z"], ["rq"]), node("DequantizeLinear", ["rq", "t", "z"], ["v"]), node("Neg", ["v"], ["y"])]

    layer = [node("DequantizeLinear", ["k", "ks", "kz"], ["kd"]), node("Conv", ["d", "kd"], ["r"], group=4, dilations=[1, 128])]
    yield own_case("rounded_wide_window", between("x", layer), {"x": floats(1, 4, 5, 262) * 2}, c, free=("x",), tolerance=1.05 / 120, plain=True)
    c |= {"k": codes(i8, 100, 3), "ks": real(.0002), "along": np.array([1, 658]), "down": np.array([658, 1])}
    layer = [node("Tile", ["k", "down"], ["m"]), node("DequantizeLinear", ["m", "ks", "kz"], ["kd"]), node("MatMul", ["d", "kd"], ["r"])]
    yield own_case("rounded_long_sum", [node("Tile", ["x", "along"], ["w"]), *between("w", layer)], {"x": floats(4, 100) * 2}, c, free=("x",),
                   tolerance=1.05 / 120, plain=True)
    yield own_case("dynamicquantizelinear_zeros", [node("DynamicQuantizeLinear", ["x"], ["y", "s", "z"])], {"x": np.zeros((2, 3), real)},
                   outputs=("y", "s", "z"), free=("x",))


def read_cases():
    """Values that are quantised in a branch that the converter takes, or to two types: others read them whole."""
    node, tensor = helper.make_node, helper.make_tensor_value_info
    real, u8, i8 = np.float32, np.uint8, np.int8
    c = {"s": real(.02), "z": u8(0), "w": floats(4, 3, 3, 3) / 6, "yes": np.array(True)}
    x = {"x": floats(1, 3, 6, 7)}
    layer = node("Conv", ["x", "w"], ["v"], pads=[1] * 4)
    inner = [node("QuantizeLinear", ["v", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"])]
    taken = helper.make_graph(inner, "taken", [], [tensor("d", 1, None)])
    other = helper.make_graph([node("Neg", ["v"], ["e"])], "other", [], [tensor("e", 1, None)])
    nodes = [layer, node("If", ["yes"], ["y"], then_branch=taken, else_branch=other), node("Neg", ["v"], ["n"])]
    yield own_case("quantised_in_branch", nodes, x, c, ("y", "n"), tolerance=.0201 / 5.1, plain=True)
    nodes = [layer, node("QuantizeLinear", ["v", "s"], ["p"], output_dtype=2), node("QuantizeLinear", ["v", "s"], ["q"], output_dtype=3),
             node("DequantizeLinear", ["p", "s"], ["y"]), node("DequantizeLinear", ["q", "s"], ["n"])]
    yield own_case("quantised_to_two_types", nodes, x, c, ("y", "n"), opset=21, tolerance=.0201 / 2, plain=True)
    # A table of 4 bits from a node, with zero points from an initializer.
    for kind, lowest in ((TensorProto.UINT4, 0), (TensorProto.INT4, -8)):
        table = helper.make_tensor("t", kind, [7, 32], codes(i8, 7 * 32) % 16 + lowest)
        points = helper.make_tensor("z", kind, [7, 2], codes(i8, 14) % 16 + lowest)
        nodes = [node("Constant", [], ["d"], value=table),
                 node("GatherBlockQuantized", ["d", "i", "s", "z"], ["y"], domain="com.microsoft", gather_axis=0, quantize_axis=1, block_size=16)]
        yield own_case(f"table_of_node_{kind}", nodes, {"i": np.array([[0, 6, 3]])}, {"s": np.abs(floats(7, 2)) * .1 + .01, "z": points},
                       opset=21)
