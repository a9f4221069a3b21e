"""3-D convolutions: as the converter writes them, and the operators of older files."""
import itertools

import numpy as np

from generator.net import cases
from generator.wire_net import wire_cases


def conv(n, name, x, channels, filters, kernel, group=1, bias=True, **attributes):
    fan = channels // group * int(np.prod(kernel))
    weight = (n.random.uniform(-1, 1, (filters, channels // group, *kernel)) / np.sqrt(fan)).astype(np.float32)
    inputs = [x, weight] + ([n.floats(filters, low=-0.5, high=0.5)] if bias else [])
    n.out(name, "Conv", *inputs, kernel_shape=list(kernel), group=group, **attributes)


@cases("convolution3d__onnx_pads")
def _(n):
    x = n.x(2, 5, 3, 4, 3)
    conv(n, "same", x, 5, 7, (3, 3, 3), pads=[1] * 6)
    conv(n, "valid_2x3x1", x, 5, 4, (2, 3, 1), bias=False)


@cases("convolution3d__onnx_window")
def _(n):
    x = n.x(2, 3, 4, 5, 4)
    conv(n, "stride", x, 3, 3, (3, 2, 3), strides=[2, 1, 2], pads=[1, 0, 1, 1, 1, 0])
    conv(n, "dilated", x, 3, 4, (2, 2, 3), dilations=[2, 3, 2], pads=[1, 0, 2, 1, 1, 2])


@cases("convolution3d__onnx_axes")
def _(n):
    x = n.x(1, 17, 3, 4, 3)
    conv(n, "depth_only", x, 17, 4, (3, 1, 1), pads=[1, 0, 0, 1, 0, 0])
    conv(n, "plane_only", x, 17, 4, (1, 3, 3), pads=[0, 1, 1, 0, 1, 1])


@cases("convolution3d__onnx_whole")
def _(n):
    x = n.x(1, 17, 3, 4, 3)
    conv(n, "point", x, 17, 5, (1, 1, 1))
    conv(n, "whole", x, 17, 2, (3, 4, 3))


@cases("convolution3d__onnx_groups")
def _(n):
    x = n.x(2, 6, 3, 4, 3)
    conv(n, "two", x, 6, 4, (3, 2, 2), group=2, pads=[1, 0, 0, 0, 1, 1])
    conv(n, "depthwise", x, 6, 6, (2, 3, 3), group=6, pads=[0, 1, 1, 1, 1, 1])


@cases("convolution3d__onnx_chain")
def _(n):
    def layer(x, channels, filters):
        weight = n.floats(filters, channels, 2, 3, 3, low=-0.3, high=0.3)
        return n.op("Conv", x, weight, n.floats(filters, low=-0.5, high=0.5), kernel_shape=[2, 3, 3],
                    pads=[0, 1, 1, 1, 1, 1])

    first = n.op("LeakyRelu", layer(n.x(1, 1, 4, 6, 4), 1, 6), alpha=0.1)
    second = layer(first, 6, 6)
    n.out("sum", "Add", second, first)


def transposed(n, name, x, channels, filters, kernel, **attributes):
    weight = n.floats(channels, filters, *kernel, low=-0.3, high=0.3)
    bias = n.floats(filters, low=-0.5, high=0.5)
    n.out(name, "ConvTranspose", x, weight, bias, kernel_shape=list(kernel), **attributes)


@cases("convolution3d__onnx_transposed")
def _(n):
    x = n.x(2, 3, 2, 3, 4)
    transposed(n, "stride2", x, 3, 4, (2, 2, 2), strides=[2, 2, 2])
    transposed(n, "overlap", x, 3, 2, (3, 2, 3), strides=[2, 1, 2], pads=[1, 0, 1, 0, 1, 1])


@cases("convolution3d__onnx_transposed_gaps")
def _(n):
    x = n.x(1, 3, 2, 3, 4)
    transposed(n, "output_padding", x, 3, 2, (2, 1, 2), strides=[3, 2, 3], output_padding=[1, 1, 0])
    transposed(n, "dilated", x, 3, 4, (2, 3, 2), strides=[2, 1, 1], dilations=[3, 1, 2])


def extents(x):
    return np.array(x.shape[2:])


def convolve(x, weight, bias, stride=(1, 1, 1), begin=(0, 0, 0), end=(0, 0, 0), dilate=(1, 1, 1), group=1):
    """In float64, weight [oc][ic/group][kd][kh][kw]."""
    x, weight = np.float64(x), np.float64(weight)
    kernel, per = weight.shape[2:], weight.shape[0] // group
    x = np.pad(x, [(0, 0), (0, 0), *zip(begin, end)])
    size = (extents(x) - (np.array(kernel) - 1) * dilate - 1) // stride + 1
    out = np.zeros((x.shape[0], weight.shape[0], *size))
    for tap in itertools.product(*map(range, kernel)):
        cut = x[(slice(None), slice(None), *(slice(k * d, k * d + (o - 1) * s + 1, s)
                                            for k, d, o, s in zip(tap, dilate, size, stride)))]
        for g in range(group):
            part = cut[:, g * weight.shape[1]:(g + 1) * weight.shape[1]]
            out[:, g * per:(g + 1) * per] += np.einsum(
                "ncdhw,oc->nodhw", part, weight[(slice(g * per, (g + 1) * per), slice(None), *tap)])
    return out + np.float64(bias).reshape(1, -1, 1, 1, 1)


def transpose_convolve(x, weight, bias, stride=(1, 1, 1), begin=(0, 0, 0), end=(0, 0, 0), dilate=(1, 1, 1),
                       extra=(0, 0, 0), group=1):
    """In float64, weight [ic][oc/group][kd][kh][kw]."""
    x, weight = np.float64(x), np.float64(weight)
    kernel, per, filters = np.array(weight.shape[2:]), weight.shape[0] // group, weight.shape[1]
    whole = (extents(x) - 1) * stride + (kernel - 1) * dilate + 1 + np.maximum(extra, 0)
    out = np.zeros((x.shape[0], filters * group, *whole))
    for tap in itertools.product(*map(range, kernel)):
        at = tuple(slice(k * d, k * d + (i - 1) * s + 1, s) for k, d, i, s in zip(tap, dilate, extents(x), stride))
        for g in range(group):
            channels = slice(g * per, (g + 1) * per)
            out[(slice(None), slice(g * filters, (g + 1) * filters), *at)] += np.einsum(
                "ncdhw,co->nodhw", x[:, channels], weight[(channels, slice(None), *tap)])
    cut = tuple(slice(b, w - e) for b, e, w in zip(begin, end, whole))
    return out[(slice(None), slice(None), *cut)] + np.float64(bias).reshape(1, -1, 1, 1, 1)


def common(weight, kind, group=1, stride=None, begin=None, end=None, dilate=None, extra=None, **more):
    outputs, inputs = (weight.shape[0], weight.shape[1] * group) if kind == "Convolution3D" else (
        weight.shape[1] * group, weight.shape[0])
    table = {"kernels": list(weight.shape[2:]), "inputCount": inputs, "outputCount": outputs, "group": group,
             "padMode": "CAFFE", "strides": list(stride or (1, 1, 1)), "dilates": list(dilate or (1, 1, 1)),
             "pads": list(begin or (0, 0, 0)) + list(end or (0, 0, 0)), **more}
    if extra:
        table["outPads"] = list(extra)
    return table


def wire_conv(n, name, x, channels, filters, kernel, kind="Convolution3D", group=1, relu=None, data_format="NCHW",
              **window):
    values = n.inputs[n.tensors[x]]
    values = np.moveaxis(values, -1, 1) if data_format == "NHWC" else values
    shape = (filters, channels // group) if kind == "Convolution3D" else (channels, filters // group)
    weight = n.floats(*shape, *kernel, low=-0.3, high=0.3)
    bias = n.floats(filters, low=-0.5, high=0.5)
    compute = convolve if kind == "Convolution3D" else transpose_convolve
    expected = compute(values, weight, bias, group=group, **window)
    more = {}
    if relu:
        more[relu] = True
        expected = np.clip(expected, 0, 6 if relu == "relu6" else None)
    y = n.op(kind, [x], "Convolution3D",
             {"common": common(weight, kind, group, **window, **more), "weight": weight.reshape(-1).tolist(),
              "bias": bias.tolist()}, data_format=data_format)
    n.expect(name, y, np.float32(np.moveaxis(expected, 1, -1) if data_format == "NHWC" else expected))


@wire_cases("convolution3d__operator")
def _(n):
    x = n.feed(n.floats(2, 5, 3, 4, 5))
    wire_conv(n, "same", x, 5, 7, (3, 3, 3), begin=(1, 1, 1), end=(1, 1, 1))
    wire_conv(n, "stride", x, 5, 3, (3, 2, 3), stride=(2, 1, 2), begin=(1, 0, 1), end=(0, 1, 1), relu="relu")
    wire_conv(n, "dilated", x, 5, 3, (2, 2, 3), dilate=(2, 3, 2), begin=(1, 0, 2), end=(1, 1, 0), relu="relu6")
    wire_conv(n, "depth_only", x, 5, 6, (3, 1, 1), stride=(2, 1, 1), begin=(1, 0, 0), end=(1, 0, 0))
    wire_conv(n, "point_stride", x, 5, 2, (1, 1, 1), stride=(3, 2, 2))


@wire_cases("convolution3d__operator_groups")
def _(n):
    x = n.feed(n.floats(1, 18, 3, 3, 4))
    wire_conv(n, "two", x, 18, 4, (2, 1, 2), group=2)
    wire_conv(n, "depthwise", x, 18, 18, (3, 2, 2), group=18, begin=(1, 0, 0), end=(1, 0, 0))
    y = n.feed(n.floats(2, 4, 1, 3, 3))
    wire_conv(n, "padded_depth", y, 4, 6, (3, 3, 3), group=2, begin=(2, 1, 1), end=(2, 1, 1))


@wire_cases("convolution3d__operator_nhwc")
def _(n):
    x = n.feed(n.floats(2, 3, 4, 5, 6), data_format="NHWC")
    wire_conv(n, "y", x, 6, 5, (2, 3, 2), begin=(0, 1, 0), end=(1, 1, 1), data_format="NHWC")


@wire_cases("convolution3d__transposed")
def _(n):
    x = n.feed(n.floats(1, 5, 2, 3, 3))
    kind = "ConvTranspose3D"
    wire_conv(n, "stride2", x, 5, 4, (2, 2, 2), kind, stride=(2, 2, 2))
    wire_conv(n, "overlap", x, 5, 3, (3, 2, 3), kind, stride=(2, 1, 2), begin=(1, 0, 1), end=(0, 1, 1))
    wire_conv(n, "gaps", x, 5, 3, (2, 1, 2), kind, stride=(3, 2, 3), extra=(1, 1, 0), relu="relu")
    wire_conv(n, "dilated", x, 5, 4, (2, 3, 2), kind, dilate=(3, 1, 2), stride=(2, 1, 1))
    wire_conv(n, "depth_only", x, 5, 3, (3, 1, 1), kind, stride=(2, 1, 1), begin=(1, 0, 0), end=(1, 0, 0))


@wire_cases("convolution3d__transposed_groups")
def _(n):
    x = n.feed(n.floats(1, 18, 2, 3, 2))
    wire_conv(n, "two", x, 18, 6, (2, 2, 1), "ConvTranspose3D", group=2, stride=(2, 1, 1))
    wire_conv(n, "depthwise", x, 18, 18, (3, 1, 2), "ConvTranspose3D", group=18, stride=(2, 2, 1), begin=(1, 0, 0),
              end=(1, 0, 0))
