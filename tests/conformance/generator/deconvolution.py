"""Transposed convolutions."""
from generator.convolution import finish
from generator.net import cases


def deconv(n, name, x, channels, filters, kernel, group=1, bias=True, **attributes):
    weight = n.floats(channels, filters // group, *kernel, low=-1, high=1)
    inputs = [x, weight] + ([n.floats(filters)] if bias else [])
    finish(n, name, "ConvTranspose", kernel, inputs, group=group, **attributes)


@cases("convolution__deconv_basic", seed="deconv_basic")
def _(n):
    x = n.x(2, 5, 6, 4)
    deconv(n, "k3", x, 5, 7, (3, 3))
    deconv(n, "k2_stride2", x, 5, 9, (2, 2), strides=[2, 2], bias=False)
    deconv(n, "k4_stride2_pad1", x, 5, 6, (4, 4), strides=[2, 2], pads=[1, 1, 1, 1])
    deconv(n, "output_padding", x, 5, 6, (3, 3), strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    deconv(n, "asymmetric", x, 5, 6, (3, 4), strides=[2, 3], pads=[1, 0, 0, 2])
    deconv(n, "dilated", x, 5, 6, (3, 3), dilations=[2, 2], pads=[1, 1, 1, 1])
    deconv(n, "k1_stride3", x, 5, 6, (1, 1), strides=[3, 3])
    deconv(n, "stride_over_kernel", x, 5, 3, (2, 2), strides=[3, 3], output_padding=[1, 0])


@cases("convolution__deconv_group", seed="deconv_group")
def _(n):
    x = n.x(1, 12, 5, 6)
    deconv(n, "group2", x, 12, 10, (3, 3), group=2, strides=[2, 2], pads=[1, 1, 1, 1])
    deconv(n, "group3", x, 12, 6, (2, 2), group=3, strides=[2, 2])
    deconv(n, "depthwise", x, 12, 12, (3, 3), group=12, strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    deconv(n, "depthwise_k4", x, 12, 12, (4, 4), group=12, strides=[2, 2], pads=[1, 1, 1, 1], bias=False)
    y = n.x(2, 5, 3, 3)
    deconv(n, "depthwise_c5", y, 5, 5, (3, 3), group=5)
    z = n.x(1, 33, 3, 4)
    deconv(n, "ic33_oc18", z, 33, 18, (2, 2), strides=[2, 2])


@cases("convolution__deconv_1d", seed="deconv_1d")
def _(n):
    x = n.x(2, 5, 9)
    deconv(n, "k4_stride2", x, 5, 3, (4,), strides=[2], pads=[1, 1])
