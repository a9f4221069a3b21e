"""Pooling."""
import numpy as np

from generator.net import cases
from generator.wire_net import wire_cases


@cases("pooling__max", seed="pool_max")
def _(n):
    x = n.x(2, 7, 11, 9)
    for name, attributes in {
            "k2_stride2": dict(kernel_shape=[2, 2], strides=[2, 2]),
            "k3_stride2_pad1": dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
            "k3_stride1": dict(kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1]),
            "ceil": dict(kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
            "ceil_k3": dict(kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
            "asymmetric": dict(kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1]),
            "asymmetric_begin": dict(kernel_shape=[3, 2], strides=[1, 2], pads=[1, 1, 0, 0]),
            "k1x3": dict(kernel_shape=[1, 3], strides=[1, 1]),
            "k5_stride3": dict(kernel_shape=[5, 5], strides=[3, 3], pads=[2, 2, 2, 2]),
            "same_upper": dict(kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER")}.items():
        n.out(name, "MaxPool", x, **attributes)
    n.out("global", "GlobalMaxPool", x)


@cases("pooling__average", seed="pool_average")
def _(n):
    x = n.x(2, 7, 11, 9)
    for name, attributes in {
            "k2_stride2": dict(kernel_shape=[2, 2], strides=[2, 2]),
            "k3_pad1": dict(kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1]),
            "k3_stride2_pad1_include": dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1],
                                            count_include_pad=1),
            "ceil": dict(kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
            "k3_ceil_pad1": dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1),
            "asymmetric": dict(kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1]),
            "k2x3": dict(kernel_shape=[2, 3], strides=[1, 2])}.items():
        n.out(name, "AveragePool", x, **attributes)
    n.out("global", "GlobalAveragePool", x)


@cases("pooling__single", seed="pool_single")
def _(n):
    x = n.x(1, 1, 3, 3)
    n.out("max_ceil", "MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    n.out("max_whole", "MaxPool", x, kernel_shape=[3, 3], strides=[1, 1])
    n.out("average_whole", "AveragePool", x, kernel_shape=[3, 3], strides=[1, 1])
    y = n.x(3, 34, 1, 1)
    n.out("max_1x1", "MaxPool", y, kernel_shape=[1, 1], strides=[1, 1])
    n.out("global_1x1", "GlobalAveragePool", y)


@cases("pooling__1d_3d", seed="pool_1d_3d")
def _(n):
    x = n.x(2, 5, 13)
    n.out("max_1d", "MaxPool", x, kernel_shape=[3], strides=[2], pads=[1, 1])
    n.out("average_1d", "AveragePool", x, kernel_shape=[2], strides=[2])
    n.out("global_1d", "GlobalAveragePool", x)
    y = n.x(1, 3, 4, 5, 6)
    n.out("max_3d", "MaxPool", y, kernel_shape=[2, 2, 2], strides=[2, 2, 2])
    n.out("average_3d", "AveragePool", y, kernel_shape=[2, 2, 2], strides=[1, 2, 2])


@cases("pooling__no_strides")
def _(n):
    x = n.x(2, 5, 6, 7)
    n.out("max", "MaxPool", x, kernel_shape=[3, 2])
    n.out("average", "AveragePool", x, kernel_shape=[2, 3], pads=[1, 0, 0, 1])
    n.out("max_1d", "MaxPool", n.x(2, 3, 9), kernel_shape=[3])
    n.out("max_3d", "MaxPool", n.x(1, 2, 4, 3, 5), kernel_shape=[2, 2, 3])


@cases("pooling__count_padding")
def _(n):
    x = n.x(2, 5, 7, 6)
    include = dict(count_include_pad=1)
    n.out("end", "AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1], **include)
    n.out("begin", "AveragePool", x, kernel_shape=[3, 2], strides=[1, 2], pads=[2, 1, 0, 0], **include)
    n.out("mixed", "AveragePool", x, kernel_shape=[4, 3], strides=[3, 1], pads=[1, 2, 2, 0], **include)
    n.out("ceil", "AveragePool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1, **include)
    y = n.x(2, 3, 9)
    n.out("line", "AveragePool", y, kernel_shape=[3], strides=[2], pads=[0, 1], **include)
    n.out("line_exclude", "AveragePool", y, kernel_shape=[3], strides=[2], pads=[1, 0])


def windows(extent, kernel, stride, begin, end):
    """PyTorch's windows in ceil mode: one that would start behind the map is left out."""
    count = -(-(extent + begin + end - kernel) // stride) + 1
    if (count - 1) * stride >= extent + begin:
        count -= 1
    return [(max(o * stride - begin, 0), min(o * stride - begin + kernel, extent)) for o in range(count)]


def pool(x, kernel, stride, pads, reduce):
    rows = windows(x.shape[2], kernel[0], stride[0], pads[0], pads[2])
    columns = windows(x.shape[3], kernel[1], stride[1], pads[1], pads[3])
    return np.stack([np.stack([reduce(np.float64(x)[:, :, a:b, c:d].reshape(*x.shape[:2], -1)) for c, d in columns], -1)
                     for a, b in rows], -2)


@wire_cases("pooling__last_window")
def _(n):
    value = n.floats(2, 5, 6, 7)
    x = n.feed(value)
    for name, kernel, stride, pads in (("pad1", (2, 2), (3, 2), (0, 1, 1, 1)), ("k1", (1, 1), (2, 5), (0, 0, 0, 0)),
                                       ("wide_stride", (3, 2), (4, 4), (1, 0, 1, 1))):
        for kind, reduce in (("MAXPOOL", lambda w: w.max(-1)), ("AVEPOOL", lambda w: w.mean(-1))):
            table = {"type": kind, "padType": "CAFFE", "kernelY": kernel[0], "kernelX": kernel[1],
                     "strideY": stride[0], "strideX": stride[1], "pads": list(pads), "ceilModel": True}
            n.expect(f"{kind}_{name}", n.op("Pooling", [x], "Pool", table),
                     np.float32(pool(value, kernel, stride, pads, reduce)))


@wire_cases("pooling__bytes")
def _(n):
    table = {"type": "MAXPOOL", "padType": "CAFFE", "kernelY": 3, "kernelX": 2, "strideY": 2, "strideX": 2,
             "pads": [1, 0, 1, 0], "ceilModel": False}
    for kind, low, high, name in ((np.uint8, 0, 256, "unsigned"), (np.int8, -128, 128, "signed")):
        value = n.ints(2, 5, 7, 6, low=low, high=high).astype(kind)
        y = n.op("Pooling", [n.feed(value)], "Pool", table)
        n.expect(name, y, pool(value, (3, 2), (2, 2), (1, 0, 1, 0), lambda w: w.max(-1)).astype(kind))


@wire_cases("pooling__average_3d")
def _(n):
    value = n.floats(2, 3, 4, 5, 4)
    x = n.feed(value)
    padded = np.pad(np.float64(value), [(0, 0), (0, 0), (1, 1), (1, 1), (1, 1)])
    ones = np.pad(np.ones(value.shape), [(0, 0), (0, 0), (1, 1), (1, 1), (1, 1)])

    def sums(v):
        size = [(e - 3) // 2 + 1 for e in v.shape[2:]]
        return np.stack([v[:, :, 2 * z:2 * z + 3, 2 * y:2 * y + 3, 2 * w:2 * w + 3].sum((2, 3, 4))
                         for z in range(size[0]) for y in range(size[1]) for w in range(size[2])], -1).reshape(
                             *v.shape[:2], *size)

    table = {"type": "AVEPOOL", "padType": "CAFFE", "kernels": [3, 3, 3], "strides": [2, 2, 2], "pads": [1, 1, 1]}
    n.expect("y", n.op("Pooling3D", [x], "Pool3D", table), np.float32(sums(padded) / sums(ones)))
