"""LayerNorm, also by root mean squares only, and nets that write it with single operators."""
import numpy as np

from generator.net import cases
from generator.wire_net import wire_cases


@cases("layer_norm__trailing_axes", seed="layer_norm")
def _(n):
    x = n.x(2, 5, 19)
    n.out("last", "LayerNormalization", x, n.floats(19), n.floats(19), axis=-1, epsilon=1e-5)
    n.out("last_no_bias", "LayerNormalization", x, n.floats(19), axis=-1)
    n.out("two_axes", "LayerNormalization", x, n.floats(5, 19), n.floats(5, 19), axis=1)


@cases("layer_norm__written_out", seed="layer_norm_pattern")
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


def layer_norm(x, axes, epsilon, rms=False, gamma=None, beta=None):
    """Computes in double precision; gamma and beta have the normalised extents, in the order of the axes of x."""
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


@wire_cases("layer_norm__axes", seed="norm__layer_norm_axes")
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


@wire_cases("layer_norm__gamma", seed="norm__layer_norm_gamma")
def _(n):
    """Gamma without beta."""
    wire_layer_norm(n, "plain", n.floats(2, 5, 19), [-1], gamma=n.floats(19))
    wire_layer_norm(n, "rms", n.floats(3, 21), [1], rms=True, gamma=n.floats(21))
    wire_layer_norm(n, "inner", n.floats(2, 5, 6), [1], gamma=n.floats(5))


@wire_cases("layer_norm__static_model")
def _(n):
    """Static models move the normalised axes to the end, and list them as they were before."""
    values, gamma, beta = n.floats(2, 3, 4), n.floats(4), n.floats(4)
    x = n.feed(values, "x")
    n.describe(x, values.shape)
    wide = values.astype(np.float64)
    for name, axes, count in (("front", [0], 1), ("two", [0, 1], 2)):
        shape = values.shape[3 - count:]
        g, b = (gamma, beta) if count == 1 else (n.floats(*shape), n.floats(*shape))
        y = n.op("LayerNorm", [x], "LayerNorm", {"axis": axes, "epsilon": 1e-5, "gamma": g.reshape(-1).tolist(),
                                                 "beta": b.reshape(-1).tolist()})
        n.describe(y, values.shape)
        over = tuple(range(3 - count, 3))
        spread = wide.var(over, keepdims=True)
        n.expect(name, y, (wide - wide.mean(over, keepdims=True)) / np.sqrt(spread + 1e-5) * g + b)
