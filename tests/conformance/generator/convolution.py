"""Convolutions: kernels, strides, padding, groups."""
import numpy as np

from generator.net import array, cases


def finish(n, name, kind, kernel, inputs, **attributes):
    """In one dimension the converter gives the inner rank-4 operator the name of the output: another operator must
    follow."""
    if len(kernel) == 1:
        n.out(name, "Neg", n.op(kind, *inputs, kernel_shape=list(kernel), **attributes))
    else:
        n.out(name, kind, *inputs, kernel_shape=list(kernel), **attributes)


def conv(n, name, x, channels, filters, kernel, group=1, bias=True, scale=None, **attributes):
    fan = channels // group * int(np.prod(kernel))
    weight = (n.random.uniform(-1, 1, (filters, channels // group, *kernel)) / np.sqrt(fan)).astype(np.float32)
    inputs = [x, weight] + ([n.floats(filters, low=-0.5, high=0.5)] if bias else [])
    finish(n, name, "Conv", kernel, inputs, group=group, **attributes)


@cases("convolution__1x1", seed="conv_1x1")
def _(n):
    x = n.x(2, 13, 7, 5)
    conv(n, "oc1", x, 13, 1, (1, 1))
    conv(n, "oc17", x, 13, 17, (1, 1), bias=False)
    conv(n, "oc24", x, 13, 24, (1, 1))
    conv(n, "stride2", x, 13, 9, (1, 1), strides=[2, 2])
    conv(n, "stride3x2_pad", x, 13, 9, (1, 1), strides=[3, 2], pads=[1, 0, 1, 1])
    conv(n, "group13", x, 13, 13, (1, 1), group=13)


@cases("convolution__1x1_single_pixel", seed="conv_1x1_single_pixel")
def _(n):
    x = n.x(1, 67, 1, 1)
    conv(n, "oc33", x, 67, 33, (1, 1))
    conv(n, "oc1", x, 67, 1, (1, 1))
    y = n.x(3, 5, 1, 1)
    conv(n, "batch3", y, 5, 7, (1, 1))


@cases("convolution__1x1_big", seed="conv_1x1_big")
def _(n):
    conv(n, "oc33", n.x(1, 131, 5, 3), 131, 33, (1, 1))


@cases("convolution__3x3", seed="conv_3x3")
def _(n):
    x = n.x(2, 3, 11, 9)
    conv(n, "same", x, 3, 10, (3, 3), pads=[1, 1, 1, 1])
    conv(n, "valid", x, 3, 5, (3, 3), bias=False)
    conv(n, "stride2", x, 3, 6, (3, 3), strides=[2, 2], pads=[1, 1, 1, 1])
    conv(n, "asymmetric", x, 3, 7, (3, 3), pads=[0, 1, 2, 0])
    conv(n, "asymmetric_stride2", x, 3, 4, (3, 3), pads=[0, 0, 1, 1], strides=[2, 2])
    conv(n, "dilated2", x, 3, 8, (3, 3), pads=[2, 2, 2, 2], dilations=[2, 2])
    conv(n, "dilated3x1", x, 3, 5, (3, 3), dilations=[3, 1], pads=[1, 0, 0, 2])
    conv(n, "same_upper", x, 3, 5, (3, 3), strides=[2, 2], auto_pad="SAME_UPPER")


@cases("convolution__3x3_wide", seed="conv_3x3_wide")
def _(n):
    x = n.x(1, 19, 9, 11)
    conv(n, "oc35", x, 19, 35, (3, 3), pads=[1, 1, 1, 1])
    conv(n, "oc4", x, 19, 4, (3, 3))
    conv(n, "oc16_dilated", x, 19, 16, (3, 3), dilations=[2, 3], pads=[2, 3, 2, 3])
    y = n.x(2, 16, 6, 7)
    conv(n, "ic16_oc16", y, 16, 16, (3, 3), pads=[1, 1, 1, 1])


@cases("convolution__3x3_big", seed="conv_3x3_big")
def _(n):
    conv(n, "oc21", n.x(1, 37, 9, 10), 37, 21, (3, 3), pads=[1, 1, 1, 1])


@cases("convolution__3x3_tiles", seed="conv_3x3_tiles")
def _(n):
    conv(n, "oc6", n.x(1, 5, 30, 33), 5, 6, (3, 3), pads=[1, 1, 1, 1])


@cases("convolution__3x3_tiny_map", seed="conv_3x3_tiny_map")
def _(n):
    x = n.x(2, 6, 1, 1)
    conv(n, "one_pixel", x, 6, 5, (3, 3), pads=[1, 1, 1, 1])
    y = n.x(1, 6, 2, 3)
    conv(n, "padded_more_than_map", y, 6, 5, (3, 3), pads=[2, 2, 2, 2])
    conv(n, "stride_over_map", y, 6, 5, (3, 3), pads=[1, 1, 1, 1], strides=[3, 4])


@cases("convolution__kernels", seed="conv_kernels")
def _(n):
    x = n.x(1, 3, 13, 15)
    conv(n, "k5", x, 3, 6, (5, 5), pads=[2, 2, 2, 2])
    conv(n, "k5_stride2", x, 3, 6, (5, 5), pads=[2, 2, 2, 2], strides=[2, 2])
    conv(n, "k7_stride2", x, 3, 9, (7, 7), pads=[3, 3, 3, 3], strides=[2, 2])
    conv(n, "k1x3", x, 3, 5, (1, 3), pads=[0, 1, 0, 1])
    conv(n, "k3x1", x, 3, 5, (3, 1), pads=[1, 0, 1, 0])
    conv(n, "k2", x, 3, 5, (2, 2))
    conv(n, "k2_stride2", x, 3, 5, (2, 2), strides=[2, 2])
    conv(n, "k4_stride4", x, 3, 5, (4, 4), strides=[4, 4])
    conv(n, "k2x5_dilated", x, 3, 5, (2, 5), dilations=[3, 2], pads=[1, 2, 3, 0])
    conv(n, "whole_map", x, 3, 5, (13, 15))


@cases("convolution__activation", seed="conv_activation")
def _(n):
    x = n.x(1, 5, 6, 7)
    conv(n, "plain", x, 5, 6, (3, 3), pads=[1, 1, 1, 1])
    for name, kind, extra in (("relu", "Relu", ()), ("relu6", "Clip", (np.float32(0), np.float32(6))),
                              ("clip", "Clip", (np.float32(-0.25), np.float32(0.5)))):
        weight = n.floats(6, 5, 3, 3, low=-1, high=1)
        n.out(name, kind, n.op("Conv", x, weight, n.floats(6), kernel_shape=[3, 3], pads=[1, 1, 1, 1]), *extra)
    d = n.op("Conv", x, n.floats(5, 1, 3, 3, low=-1, high=1), n.floats(5), kernel_shape=[3, 3], group=5)
    n.out("depthwise_relu", "Relu", d)
    e = n.op("Conv", x, n.floats(9, 5, 1, 1, low=-3, high=3), n.floats(9), kernel_shape=[1, 1])
    n.out("pointwise_relu6", "Clip", e, np.float32(0), np.float32(6))


@cases("convolution__group", seed="conv_group")
def _(n):
    x = n.x(2, 12, 7, 6)
    conv(n, "group2", x, 12, 10, (3, 3), group=2, pads=[1, 1, 1, 1])
    conv(n, "group3", x, 12, 9, (3, 3), group=3, bias=False)
    conv(n, "group4_1x1", x, 12, 20, (1, 1), group=4)
    conv(n, "group6_stride2", x, 12, 6, (3, 3), group=6, strides=[2, 2], pads=[1, 1, 1, 1])
    conv(n, "multiplier2", x, 12, 24, (3, 3), group=12, pads=[1, 1, 1, 1])
    y = n.x(1, 16, 5, 5)
    conv(n, "group2_ic16", y, 16, 16, (3, 3), group=2, pads=[1, 1, 1, 1])
    conv(n, "group4_dilated", y, 16, 8, (3, 3), group=4, dilations=[2, 2], pads=[2, 2, 2, 2])


@cases("convolution__depthwise", seed="conv_depthwise")
def _(n):
    x = n.x(2, 19, 8, 7)
    conv(n, "k3", x, 19, 19, (3, 3), group=19, pads=[1, 1, 1, 1])
    conv(n, "k3_stride2", x, 19, 19, (3, 3), group=19, pads=[1, 1, 1, 1], strides=[2, 2])
    conv(n, "k5", x, 19, 19, (5, 5), group=19, pads=[2, 2, 2, 2])
    conv(n, "k5_stride2", x, 19, 19, (5, 5), group=19, pads=[2, 2, 2, 2], strides=[2, 2], bias=False)
    conv(n, "k3_dilated", x, 19, 19, (3, 3), group=19, pads=[2, 2, 2, 2], dilations=[2, 2])
    conv(n, "k3_asymmetric", x, 19, 19, (3, 3), group=19, pads=[0, 1, 2, 0], strides=[2, 1])
    conv(n, "k7", x, 19, 19, (7, 7), group=19, pads=[3, 3, 3, 3])


@cases("convolution__depthwise_small", seed="conv_depthwise_small")
def _(n):
    x = n.x(1, 3, 1, 1)
    conv(n, "one_pixel", x, 3, 3, (3, 3), group=3, pads=[1, 1, 1, 1])
    y = n.x(1, 33, 4, 3)
    conv(n, "c33_valid", y, 33, 33, (3, 3), group=33)
    conv(n, "c33_k2", y, 33, 33, (2, 2), group=33, pads=[0, 0, 1, 1])
    conv(n, "c33_whole", y, 33, 33, (4, 3), group=33)
    z = n.x(1, 8, 20, 3)
    conv(n, "narrow", z, 8, 8, (5, 5), group=8, pads=[2, 2, 2, 2])


@cases("convolution__1d", seed="conv_1d")
def _(n):
    x = n.x(2, 5, 13)
    conv(n, "k3", x, 5, 7, (3,), pads=[1, 1])
    conv(n, "k5_stride2", x, 5, 7, (5,), pads=[2, 1], strides=[2])
    conv(n, "k1", x, 5, 6, (1,))
    conv(n, "depthwise", x, 5, 5, (3,), pads=[2, 0], group=5)
    conv(n, "dilated", x, 5, 4, (3,), dilations=[3])


@cases("convolution__3d", seed="conv_3d")
def _(n):
    x = n.x(1, 3, 5, 6, 7)
    conv(n, "k3", x, 3, 5, (3, 3, 3), pads=[1, 1, 1, 1, 1, 1])
    conv(n, "k123_stride2", x, 3, 4, (1, 2, 3), strides=[2, 2, 2])
    conv(n, "k1", x, 3, 6, (1, 1, 1))


@cases("convolution__dynamic_weight", seed="conv_dynamic_weight")
def _(n):
    x = n.x(1, 5, 6, 7)
    w = n.x(4, 5, 3, 3, name="weight")
    b = n.x(4, name="bias")
    n.out("with_bias", "Conv", x, w, b, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    n.out("no_bias", "Conv", x, w, kernel_shape=[3, 3], strides=[2, 2])


@cases("convolution__chain", seed="conv_chain")
def _(n):
    x = n.x(1, 3, 16, 16)
    w = lambda o, i, k: (n.floats(o, i, k, k) / np.sqrt(i * k * k)).astype(np.float32)
    a = n.op("Relu", n.op("Conv", x, w(12, 3, 3), n.floats(12), pads=[1, 1, 1, 1], strides=[2, 2]))
    b = n.op("Conv", a, w(12, 1, 3), n.floats(12), pads=[1, 1, 1, 1], group=12)
    c = n.op("Add", n.op("Conv", b, w(12, 12, 1), n.floats(12)), a)
    d = n.op("Concat", c, n.op("MaxPool", a, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1]), axis=1)
    e = n.op("Relu", n.op("Conv", d, w(7, 24, 3), n.floats(7)))
    n.mark(c)
    n.out("final", "Gemm", n.op("Flatten", n.op("GlobalAveragePool", e)), n.floats(7, 5), n.floats(5))


@cases("convolution__dynamic_batch", seed="dynamic_batch_conv")
def _(n):
    x = n.input(n.floats(2, 3, 9, 7), shape=["n", 3, "h", "w"])
    c = n.op("Relu", n.op("Conv", x, n.floats(6, 3, 3, 3), n.floats(6), pads=[1, 1, 1, 1], strides=[2, 2]))
    up = n.op("Resize", c, "", "", n.op("Concat", n.op("Slice", n.op("Shape", c), array(0), array(2)),
              n.op("Slice", n.op("Shape", x), array(2), array(4)), axis=0), mode="linear",
              coordinate_transformation_mode="align_corners")
    n.out("joined", "Concat", x, up, axis=1)
    n.out("flat", "Flatten", n.op("GlobalAveragePool", c))
