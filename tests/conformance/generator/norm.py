"""Normalisation over axes."""
import numpy as np

from generator.net import array, cases


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
