"""GroupNorm and SplitGeLU, which fusions of diffusion nets write."""
import math

import numpy as np

from generator.net import cases
from generator.wire_net import wire_cases


def group_norm(x, groups, epsilon, gamma=None, beta=None, add=None, silu=False):
    x = x.astype(np.float64)
    if add is not None:
        x = x + add.astype(np.float64).reshape(*add.shape[:2], *[1] * (x.ndim - 2))
    rows = x.reshape(x.shape[0], groups, -1)
    rows = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + epsilon)
    y, per_channel = rows.reshape(x.shape), [-1] + [1] * (x.ndim - 2)
    y = y * (1 if gamma is None else gamma.astype(np.float64).reshape(per_channel))
    y = y + (0 if beta is None else beta.astype(np.float64).reshape(per_channel))
    return y / (1 + np.exp(-y)) if silu else y


def case(n, name, shape, groups, affine=True, add=None, silu=False, epsilon=1e-5):
    x, inputs = n.floats(*shape), []
    inputs.append(n.feed(x))
    if add is not None:
        inputs.append(n.feed(add))
    gamma, beta = (n.floats(shape[1]), n.floats(shape[1])) if affine else (None, None)
    main = {"group": groups, "epsilon": epsilon, "bSwish": int(silu)}
    if affine:
        main.update(gamma=gamma.tolist(), beta=beta.tolist())
    y = n.op("GroupNorm", inputs, "GroupNorm", main)
    n.expect(name, y, group_norm(x, groups, epsilon, gamma, beta, add, silu))


@wire_cases("group_norm__forms")
def _(n):
    case(n, "plain", (2, 6, 2, 3), 3, affine=False)
    case(n, "affine", (2, 6, 2, 3), 2)
    case(n, "silu", (1, 8, 4, 4), 4, silu=True)
    case(n, "one_group", (2, 5, 7), 1)
    case(n, "each_channel", (1, 4, 3, 3), 4, silu=True, epsilon=1e-3)
    case(n, "added", (2, 6, 2, 3), 3, add=n.floats(2, 6), silu=True)
    case(n, "added_rank4", (2, 6, 2, 3), 3, add=n.floats(2, 6, 1, 1))
    case(n, "rank2", (3, 12), 4)
    case(n, "rank5", (1, 4, 2, 3, 3), 2)
    y = n.op("GroupNorm", [n.feed(np.zeros((0, 4, 2, 2), np.float32))], "GroupNorm", {"group": 2, "epsilon": 1e-5})
    n.expect("empty", y, np.zeros((0, 4, 2, 2)))


@wire_cases("group_norm__split_gelu")
def _(n):
    def gate(name, shape, added=False):
        x, bias = n.floats(*shape), n.floats(shape[-1]) if added else None
        inputs = [n.feed(x)] + ([n.feed(bias)] if added else [])
        total = x.astype(np.float64) + (bias if added else 0)
        left, right = np.split(total, 2, -1)
        gelu = right * 0.5 * (1 + np.vectorize(math.erf, otypes=[np.float64])(right / math.sqrt(2)))
        n.expect(name, n.op("SplitGeLU", inputs), left * gelu)

    gate("rank3", (2, 5, 22))
    gate("added", (2, 5, 22), added=True)
    gate("rank2", (3, 2))
    gate("vector", (34,), added=True)
    gate("empty", (0, 6))


@cases("group_norm__written_out", seed="norm_group")
def _(n):
    x = n.x(2, 6, 3, 4)
    flat = n.op("Reshape", x, np.array([0, 3, -1], np.int64))
    norm = n.op("InstanceNormalization", flat, np.ones(3, np.float32), np.zeros(3, np.float32), epsilon=1e-5)
    back = n.op("Reshape", norm, n.op("Shape", x))
    n.out("group3", "Add", n.op("Mul", back, n.floats(6, 1, 1)), n.floats(6, 1, 1))
