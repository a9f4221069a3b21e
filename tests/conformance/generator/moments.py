"""Moments: the mean and the variance, as tf.nn.moments."""
import numpy as np

from generator.wire_net import wire_cases


def moments(n, name, tensor, value, axes, keep=True):
    results = n.op("Moments", [tensor], "MomentsParam", {"dim": list(axes), "keepDims": keep}, count=2)
    over = tuple(axes) or None
    n.expect(f"{name}_mean", results[0], np.float64(value).mean(over, keepdims=keep))
    n.expect(f"{name}_variance", results[1], np.float64(value).var(over, keepdims=keep))


@wire_cases("moments__axes")
def _(n):
    value = n.floats(2, 5, 3, 7) + np.float32(10)
    for data_format in ("NC4HW4", "NCHW"):
        x = n.feed(value, data_format=data_format)
        moments(n, f"{data_format}_plane", x, value, [2, 3])
        moments(n, f"{data_format}_plane_dropped", x, value, [2, 3], keep=False)
    moments(n, "all", x, value, [])
    moments(n, "mixed", x, value, [-1, 0], keep=False)
    moments(n, "channel", x, value, [1])
    row = n.floats(1, 6)
    fed = n.feed(row)
    moments(n, "one", fed, row, [0], keep=False)
    moments(n, "row", fed, row, [1])
