"""Normalisation over axes."""
import numpy as np

from generator.net import cases
from generator.wire_net import wire_cases


@cases("norm__layer_norm", seed="layer_norm")
def _(n):
    x = n.x(2, 5, 19)
    n.out("last", "LayerNormalization", x, n.floats(19), n.floats(19), axis=-1, epsilon=1e-5)
    n.out("last_no_bias", "LayerNormalization", x, n.floats(19), axis=-1)
    n.out("two_axes", "LayerNormalization", x, n.floats(5, 19), n.floats(5, 19), axis=1)


@cases("norm__layer_norm_pattern", seed="layer_norm_pattern")
def _(n):
    x = n.x(2, 5, 24, low=-3, high=5)

    def norm(axes):
        centred = n.op("Sub", x, n.op("ReduceMean", x, axes=axes, keepdims=1))
        variance = n.op("ReduceMean", n.op("Pow", centred, np.float32(2)), axes=axes, keepdims=1)
        return n.op("Div", centred, n.op("Sqrt", n.op("Add", variance, np.float32(1e-5))))

    n.out("affine", "Add", n.op("Mul", norm([-1]), n.floats(24)), n.floats(24))
    n.out("plain_axis1", "Identity", norm([1]))
    square = n.op("ReduceMean", n.op("Pow", x, np.float32(2)), axes=[-1], keepdims=1)
    rms = n.op("Mul", x, n.op("Div", np.float32(1), n.op("Sqrt", n.op("Add", square, np.float32(1e-6)))))
    n.out("rms", "Mul", n.floats(24), rms)


@cases("norm__group", seed="norm_group")
def _(n):
    x = n.x(2, 6, 3, 4)
    flat = n.op("Reshape", x, np.array([0, 3, -1], np.int64))
    norm = n.op("InstanceNormalization", flat, np.ones(3, np.float32), np.zeros(3, np.float32), epsilon=1e-5)
    back = n.op("Reshape", norm, n.op("Shape", x))
    n.out("group3", "Add", n.op("Mul", back, n.floats(6, 1, 1)), n.floats(6, 1, 1))


@cases("norm__lrn", seed="lrn")
def _(n):
    x = n.x(2, 7, 3, 5)
    n.out("size5", "LRN", x, size=5, alpha=1e-1, beta=0.75, bias=1.0)
    n.out("size3", "LRN", x, size=3, alpha=0.5, beta=0.5, bias=2.0)


@cases("norm__lp_norm", seed="lp_norm")
def _(n):
    x = n.x(2, 7, 3)
    n.out("l2_axis1", "LpNormalization", x, axis=1, p=2)
    n.out("l2_pattern", "Div", x, n.op("ReduceL2", x, axes=[-1], keepdims=1))


def layer_norm(x, axes, epsilon, rms=False, gamma=None, beta=None):
    """In double precision; gamma and beta have the normalised extents, in the order of the axes of x."""
    x, axes = x.astype(np.float64), tuple(sorted(a % x.ndim for a in axes))
    mean = 0 if rms else x.mean(axes, keepdims=True)
    y = (x - mean) / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + epsilon)
    extents = [x.shape[a] if a in axes else 1 for a in range(x.ndim)]
    y = y * (1 if gamma is None else gamma.astype(np.float64).reshape(extents))
    return y + (0 if beta is None else beta.astype(np.float64).reshape(extents))


def wire_layer_norm(n, name, x, axes, rms=False, gamma=None, beta=None, epsilon=1e-5):
    main = {"axis": list(axes), "epsilon": epsilon, "useRMSNorm": rms}
    for key, value in (("gamma", gamma), ("beta", beta)):
        if value is not None:
            main[key] = value.tolist()
    y = n.op("LayerNorm", [n.feed(x)], "LayerNorm", main)
    n.expect(name, y, layer_norm(x, axes, epsilon, rms, gamma, beta))


@wire_cases("norm__layer_norm_axes")
def _(n):
    """Axes are a set, in any order and from either end: the converter writes those of the net's ReduceMean."""
    for name, axes in (("last", [-1]), ("first", [0]), ("inner", [1]), ("inner_two", [1, 2]), ("reversed", [3, 2]),
                       ("reversed_negative", [-1, -2]), ("mixed", [-1, 2]), ("apart", [0, 2]), ("apart_last", [1, 3]),
                       ("three_apart", [0, 1, 3]), ("all", [0, 1, 2, 3])):
        extents = np.array([2, 3, 2, 4])[sorted(a % 4 for a in axes)]
        size = int(np.prod(extents))
        wire_layer_norm(n, name, n.floats(2, 3, 2, 4), axes, gamma=n.floats(size), beta=n.floats(size))
    wire_layer_norm(n, "rms_apart", n.floats(3, 4, 5), [0, 2], rms=True)
    wire_layer_norm(n, "vector", n.floats(7), [0])
    wire_layer_norm(n, "empty_apart", np.zeros((2, 0, 3), np.float32), [0, 2])


@wire_cases("norm__layer_norm_gamma")
def _(n):
    """Gamma without beta."""
    wire_layer_norm(n, "plain", n.floats(2, 5, 19), [-1], gamma=n.floats(19))
    wire_layer_norm(n, "rms", n.floats(3, 21), [1], rms=True, gamma=n.floats(21))
    wire_layer_norm(n, "inner", n.floats(2, 5, 6), [1], gamma=n.floats(5))


def batch_norm_table(n, channels):
    values = {"slopeData": n.floats(channels), "meanData": n.floats(channels), "biasData": n.floats(channels),
              "varData": n.floats(channels, low=0.1)}
    return values, {"channels": channels, "epsilon": 1e-3, **{k: v.tolist() for k, v in values.items()}}


@wire_cases("norm__batch_norm")
def _(n):
    for shape in ((4, 5), (2, 5, 7), (2, 3, 4, 5), (2, 3, 2, 3, 4), (0, 3, 2)):
        x, (values, main) = n.floats(*shape), batch_norm_table(n, shape[1])
        slope, mean, bias, var = (values[k].astype(np.float64).reshape(-1, *[1] * (len(shape) - 2))
                                  for k in ("slopeData", "meanData", "biasData", "varData"))
        y = n.op("BatchNorm", [n.feed(x)], "BatchNorm", main)
        n.expect("x".join(map(str, shape)), y, slope * (x - mean) / np.sqrt(var + 1e-3) + bias)


@wire_cases("norm__instance_norm")
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


@wire_cases("norm__normalize")
def _(n):
    """Over channels, or over a whole image (SSD, Liu et al., arXiv 1512.02325)."""
    for name, shape, spatial in (("channels", (2, 5, 3, 4), 0), ("across", (2, 5, 3, 4), 1), ("rank5", (1, 3, 2, 2, 3), 0),
                                 ("one", (1, 1, 1, 1), 0), ("empty", (0, 2, 3, 3), 0)):
        x, scale = n.floats(*shape), n.floats(shape[1])
        y = n.op("Normalize", [n.feed(x)], "Normalize", {"acrossSpatial": spatial, "channelShared": 0, "eps": 1e-6,
                                                          "scale": scale.tolist()})
        d = x.astype(np.float64)
        length = np.sqrt((d ** 2).sum(tuple(range(1, d.ndim)) if spatial else 1, keepdims=True) + 1e-6)
        n.expect(name, y, d * scale.astype(np.float64).reshape(-1, *[1] * (len(shape) - 2)) / length)


@wire_cases("norm__normalize_scale")
def _(n):
    """Normalize of SSD: over the channels of a pixel, or over all of an image."""
    values = n.floats(2, 5, 3, 4)
    x = n.feed(values, "x")
    scale = n.floats(5)
    wide = values.astype(np.float64)
    for name, axes, across in (("pixel", 1, 0), ("image", (1, 2, 3), 1)):
        y = n.op("Normalize", [x], "Normalize", {"acrossSpatial": across, "eps": 1e-6, "scale": scale.tolist()})
        truth = wide * scale.reshape(1, 5, 1, 1) / np.sqrt((wide ** 2).sum(axes, keepdims=True) + 1e-6)
        n.expect(name, y, truth.astype(np.float32))
