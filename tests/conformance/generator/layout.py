"""Operators behind convolutions, which give tensors with blocks of channels."""
import numpy as np
from onnx import TensorProto

from generator.net import array, cases


def convolved(n, channels, *size):
    x = n.x(2, 3, *size)
    return n.op("Conv", x, n.floats(channels, 3, 3, 3, low=-0.4, high=0.4), n.floats(channels), pads=[1, 1, 1, 1])


@cases("layout__movement", seed="layout_movement")
def _(n):
    """Operators that move data, on a packed tensor whose channels do not fill the packs."""
    a, b = convolved(n, 7, 5, 6), convolved(n, 6, 5, 6)
    n.out("concat1", "Concat", a, b, a, axis=1)
    n.out("concat0", "Concat", a, a, axis=0)
    n.out("concat3", "Concat", a, a, axis=3)
    n.outs(["split_0", "split_1", "split_2"], "Split", a, array(1, 4, 2), axis=1)
    n.out("slice", "Slice", a, array(2, 1), array(7, 4), array(1, 2))
    n.out("slice_reverse", "Slice", a, array(-1), array(-100), array(1), array(-2))
    n.out("pad_channel", "Pad", a, array(0, 3, 1, 0, 0, 2, 0, 1), np.float32(0.5))
    n.out("pad_reflect", "Pad", a, array(0, 0, 2, 1, 0, 0, 1, 2), mode="reflect")
    n.out("nhwc", "Transpose", a, perm=[0, 2, 3, 1])
    n.out("swap01", "Transpose", a, perm=[1, 0, 2, 3])
    n.out("reshape", "Reshape", a, array(2, 35, 6))
    n.out("reshape4", "Reshape", b, array(4, 3, 6, 5))
    n.out("flatten", "Flatten", a)
    n.out("gather1", "Gather", a, np.array([6, 0, 5], np.int64), axis=1)
    n.out("gather_scalar", "Gather", a, np.array(4, np.int64), axis=1)
    n.out("tile", "Tile", a, array(1, 2, 1, 1))
    n.out("depth_to_space", "DepthToSpace", convolved(n, 12, 4, 3), blocksize=2)
    n.out("space_to_depth", "SpaceToDepth", convolved(n, 5, 4, 6), blocksize=2)
    n.out("unsqueeze", "Unsqueeze", a, array(2))
    n.out("shuffle", "Reshape", n.op("Transpose", n.op("Reshape", b, array(2, 2, 3, 5, 6)), perm=[0, 2, 1, 3, 4]),
          array(2, 6, 5, 6))


@cases("layout__arithmetic", seed="layout_arithmetic")
def _(n):
    """Operators that compute, on a packed tensor whose channels do not fill the packs."""
    a, b = convolved(n, 7, 5, 6), convolved(n, 7, 5, 6)
    n.out("add", "Add", a, b)
    n.out("mul_channel", "Mul", a, n.floats(7, 1, 1))
    n.out("add_row", "Add", a, n.floats(6))
    n.out("sub_pixel", "Sub", a, n.floats(1, 1, 5, 6))
    n.out("gate", "Mul", a, n.op("Sigmoid", n.op("GlobalAveragePool", b)))
    n.out("gate_plane", "Mul", a, n.op("ReduceMean", b, axes=[1], keepdims=1))
    n.out("compare", "Where", n.op("Greater", a, b), a, b)
    for axis in (0, 1, 2, 3):
        n.out(f"softmax{axis}", "Softmax", a, axis=axis)
        n.out(f"mean{axis}", "ReduceMean", a, axes=[axis], keepdims=0)
        n.out(f"argmax{axis}", "ArgMax", a, axis=axis, keepdims=0)
    n.out("max23", "ReduceMax", a, axes=[2, 3], keepdims=1)
    n.out("sum_all", "ReduceSum", a, keepdims=0)
    n.out("prelu", "PRelu", a, n.floats(7, 1, 1))
    n.out("hard_swish", "HardSwish", a)
    n.out("gelu_free_tanh", "Tanh", a)
    n.out("instance", "InstanceNormalization", a, n.floats(7), n.floats(7), epsilon=1e-5)
    n.out("scale", "BatchNormalization", n.op("Relu", a), n.floats(7), n.floats(7), n.floats(7),
          n.floats(7, low=0.3, high=2), epsilon=1e-4)
    n.out("lrn", "LRN", a, size=3, alpha=0.5, beta=0.75, bias=1.0)
    n.out("nearest", "Resize", a, "", np.array([1, 1, 2, 2], np.float32), mode="nearest",
          coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    n.out("linear", "Resize", a, "", "", array(2, 7, 8, 3), mode="linear")
    n.out("matmul", "MatMul", a, n.floats(6, 4))
    n.out("cumsum", "CumSum", a, np.array(1, np.int32))
    n.out("average", "AveragePool", a, kernel_shape=[2, 2], strides=[2, 2])
    n.outs(["top_values", "top_index"], "TopK", a, array(3), axis=1)


@cases("layout__integer", seed="layout_integer")
def _(n):
    """Integers and truth values made from packed tensors."""
    a, b = convolved(n, 7, 5, 6), convolved(n, 5, 5, 6)
    i = n.op("Cast", n.op("Mul", a, np.float32(5)), to=TensorProto.INT32)
    k = n.op("Cast", n.op("Mul", b, np.float32(5)), to=TensorProto.INT32)
    n.out("concat", "Concat", i, k, axis=1)
    n.out("slice", "Slice", i, array(2), array(6), array(1))
    n.out("nhwc", "Transpose", i, perm=[0, 2, 3, 1])
    n.out("pad", "Pad", i, array(0, 1, 0, 2, 0, 2, 1, 0), np.int32(3))
    n.out("max1", "ReduceMax", i, axes=[1], keepdims=0)
    n.out("sum23", "ReduceSum", i, array(2, 3), keepdims=1)
    n.out("add_channel", "Add", i, n.ints(7, 1, 1))
    n.out("abs", "Abs", i)
    n.out("gather", "Gather", i, np.array([5, 1], np.int64), axis=1)
    n.out("flatten", "Flatten", i)
    n.out("back", "Mul", n.op("Cast", i, to=TensorProto.FLOAT), a)
    mask = n.op("Less", a, n.floats(7, 1, 1, low=-0.3, high=0.3))
    n.out("not", "Not", mask)
    n.out("both", "And", mask, n.op("Greater", a, np.float32(-0.5)))
    n.out("mask_float", "Mul", n.op("Cast", mask, to=TensorProto.FLOAT), a)
    n.out("where_channel", "Where", mask, a, n.floats(7, 1, 1))
    n.out("where_int", "Where", mask, i, n.ints(1, low=3, high=9))
    n.out("equal_scalar", "Equal", i, np.int32(1))
    n.out("compare_pooled", "Greater", a, n.op("GlobalAveragePool", a))


@cases("layout__mixed", seed="layout_mixed")
def _(n):
    """Packed and plain tensors of the same shape together."""
    a, x = convolved(n, 7, 5, 6), n.x(2, 7, 5, 6)
    n.out("add", "Add", a, x)
    n.out("sub", "Sub", x, a)
    n.out("concat", "Concat", x, a, axis=1)
    n.out("compare", "GreaterOrEqual", x, a)
    n.out("channel_first", "Mul", n.x(1, 7, 1, 1), a)
    n.out("rank3", "Add", a, n.x(7, 5, 6))
    n.out("rank5", "Add", a, n.x(2, 1, 7, 5, 6))
    n.out("pooled_plain", "Mul", x, n.op("GlobalMaxPool", a))
    n.out("vector", "Add", n.op("Flatten", n.op("GlobalAveragePool", a)), n.floats(7))
    n.out("twice", "Conv", n.op("Concat", x, a, axis=1), n.floats(3, 14, 1, 1), n.floats(3))
    n.out("transposed_conv", "Conv", n.op("Transpose", a, perm=[0, 2, 1, 3]), n.floats(4, 5, 3, 3), n.floats(4))
    n.out("normalised", "LayerNormalization", n.op("Transpose", a, perm=[0, 2, 3, 1]), n.floats(7), n.floats(7))
    n.out("tokens", "MatMul", n.op("Transpose", n.op("Reshape", a, array(2, 7, 30)), perm=[0, 2, 1]), n.floats(7, 5))
    n.out("attention", "Softmax", n.op("MatMul", a, n.op("Transpose", a, perm=[0, 1, 3, 2])), axis=-1)


@cases("layout__first_layers_added")
def _(n):
    def layer():
        weight = n.floats(4, 3, 3, 3, low=-0.3, high=0.3)
        return n.op("Conv", n.x(2, 3, 5, 6), weight, n.floats(4), kernel_shape=[3, 3], pads=[1, 1, 1, 1])

    n.out("y", "Add", layer(), layer())


@cases("layout__static_net", flags=["--saveStaticModel"])
def _(n):
    """A net with skip connections as a static model: convolutions, resizing, pooling, slices, normalisation, and an attention."""
    x = n.x(1, 3, 8, 8)

    def layer(value, inputs, outputs):
        weight = n.floats(outputs, inputs, 3, 3, low=-0.4, high=0.4)
        return n.op("Relu", n.op("Conv", value, weight, n.floats(outputs), pads=[1, 1, 1, 1]))

    wide = layer(x, 3, 5)
    narrow = layer(n.op("MaxPool", wide, kernel_shape=[2, 2], strides=[2, 2]), 5, 6)
    back = n.op("Resize", narrow, "", np.array([1, 1, 2, 2], np.float32), mode="linear",
                coordinate_transformation_mode="half_pixel")
    joined = layer(n.op("Concat", wide, back, axis=1), 11, 4)
    n.out("map", "Slice", joined, array(-1), array(-100), array(1), array(-2))
    rows = n.op("Transpose", n.op("Reshape", joined, array(1, 4, 64)), perm=[0, 2, 1])
    norm = n.op("LayerNormalization", rows, n.floats(4), n.floats(4), axis=-1)
    scores = n.op("Softmax", n.op("MatMul", norm, n.op("Transpose", norm, perm=[0, 2, 1])), axis=-1)
    n.out("rows", "Add", rows, n.op("MatMul", scores, norm))
    n.out("mean", "ReduceMean", rows, axes=[1], keepdims=0)
    n.out("gathered", "Gather", rows, np.array([3, 0, 63], np.int64), axis=1)
