"""Softmax and LogSoftmax."""
import numpy as np

from generator.net import cases
from generator.wire_net import wire_cases


@cases("softmax__axes", seed="softmax_axes")
def _(n):
    x = n.x(2, 5, 3, 7, low=-6, high=6)
    for axis in (0, 1, 2, 3, -1):
        n.out(f"axis{axis}".replace("-", "m"), "Softmax", x, axis=axis)
        n.out(f"log_axis{axis}".replace("-", "m"), "LogSoftmax", x, axis=axis)
    y = n.x(3, 33, low=-40, high=40)
    n.out("rank2", "Softmax", y, axis=1)
    n.out("rank2_axis0", "Softmax", y, axis=0)
    n.out("rank1", "Softmax", n.x(11), axis=0)
    n.out("rank3_mid", "Softmax", n.x(2, 9, 5), axis=1)
    n.out("size1", "Softmax", n.x(4, 1), axis=1)
    n.out("shifted", "Softmax", n.x(2, 6, low=900, high=903), axis=1)


@cases("softmax__flattening", seed="softmax_flattening", opset=11)
def _(n):
    x = n.x(2, 3, 5)
    n.out("default", "Softmax", n.x(3, 10))
    n.out("last", "Softmax", x, axis=2)


@wire_cases("softmax__empty")
def _(n):
    """Softmax along an empty axis, and beside one."""
    for shape in ((0, 3), (3, 0), (2, 0, 4), (2, 3, 0)):
        for axis in (0, 1, -1):
            y = n.op("Softmax", [n.feed(np.zeros(shape, np.float32))], "Axis", {"axis": axis})
            n.expect("x".join(map(str, shape)) + f"_axis{axis}".replace("-", "m"), y, np.zeros(shape))
