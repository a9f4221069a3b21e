"""BatchNormalization and InstanceNormalization."""
import numpy as np

from generator.net import cases
from generator.wire_net import wire_cases


@cases("scale__batch_instance_norm", seed="norm_channel")
def _(n):
    x = n.x(2, 7, 5, 6, low=-1, high=3)
    n.out("batch", "BatchNormalization", x, n.floats(7), n.floats(7), n.floats(7), n.floats(7, low=0.2, high=2),
          epsilon=1e-3)
    n.out("instance", "InstanceNormalization", x, n.floats(7), n.floats(7), epsilon=1e-4)
    n.out("batch_rank2", "BatchNormalization", n.x(3, 9), n.floats(9), n.floats(9), n.floats(9),
          n.floats(9, low=0.2, high=2), epsilon=1e-5)
    n.out("batch_rank3", "BatchNormalization", n.x(2, 9, 4), n.floats(9), n.floats(9), n.floats(9),
          n.floats(9, low=0.2, high=2), epsilon=1e-5)
    n.out("instance_rank3", "InstanceNormalization", n.x(2, 5, 11), n.floats(5), n.floats(5), epsilon=1e-5)


@wire_cases("scale__instance_norm_of_statistics")
def _(n):
    """InstanceNorm with the mean and the variance of every plane as inputs, as in TensorFlow's graphs."""
    values = n.floats(2, 3, 4, 5)
    slope, bias = n.floats(3), n.floats(3)
    mean, var = n.floats(2, 3, 1, 1), n.floats(2, 3, 1, 1, low=0.3, high=2)
    table = {"channels": 3, "slopeData": slope.tolist(), "biasData": bias.tolist(), "meanData": [0] * 3,
             "varData": [0] * 3, "epsilon": 1e-3}
    y = n.op("InstanceNorm", [n.feed(values, "x"), n.feed(mean, "mean"), n.feed(var, "var")], "BatchNorm", table)
    wide = (values.astype(np.float64) - mean) / np.sqrt(var.astype(np.float64) + 1e-3)
    n.expect("y", y, (wide * slope.reshape(1, 3, 1, 1) + bias.reshape(1, 3, 1, 1)).astype(np.float32))


def batch_norm_table(n, channels):
    values = {"slopeData": n.floats(channels), "meanData": n.floats(channels), "biasData": n.floats(channels),
              "varData": n.floats(channels, low=0.1)}
    return values, {"channels": channels, "epsilon": 1e-3, **{k: v.tolist() for k, v in values.items()}}


@wire_cases("scale__batch_norm", seed="norm__batch_norm")
def _(n):
    for shape in ((4, 5), (2, 5, 7), (2, 3, 4, 5), (2, 3, 2, 3, 4), (0, 3, 2)):
        x, (values, main) = n.floats(*shape), batch_norm_table(n, shape[1])
        slope, mean, bias, var = (values[k].astype(np.float64).reshape(-1, *[1] * (len(shape) - 2))
                                  for k in ("slopeData", "meanData", "biasData", "varData"))
        y = n.op("BatchNorm", [n.feed(x)], "BatchNorm", main)
        n.expect("x".join(map(str, shape)), y, slope * (x - mean) / np.sqrt(var + 1e-3) + bias)


@wire_cases("scale__instance_norm", seed="norm__instance_norm")
def _(n):
    """One input: mean and variance are those of each plane."""
    for shape in ((4, 5), (2, 5, 7), (2, 3, 4, 5), (2, 3, 2, 3, 4), (0, 3, 2)):
        x, slope, bias = n.floats(*shape), n.floats(shape[1]), n.floats(shape[1])
        y = n.op("InstanceNorm", [n.feed(x)], "BatchNorm", {"channels": shape[1], "epsilon": 1e-3,
                                                             "slopeData": slope.tolist(), "biasData": bias.tolist()})
        rows = x.astype(np.float64).reshape(*shape[:2], -1 if x.size else 2)
        rows = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + 1e-3)
        value = slope.astype(np.float64)[None, :, None] * rows + bias.astype(np.float64)[None, :, None]
        n.expect("x".join(map(str, shape)), y, value.reshape(shape))
