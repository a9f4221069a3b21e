"""Pooling."""
from generator.net import cases


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
