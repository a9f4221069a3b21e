"""Reductions."""
import numpy as np

from generator.net import array, cases


@cases("reduction__float", seed="reduce_float")
def _(n):
    x = n.x(3, 5, 4, 7, low=0.2, high=1.8)
    for kind in ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
                 "ReduceLogSumExp", "ReduceSumSquare"):
        n.out(f"{kind[6:].lower()}_1", kind, x, axes=[1], keepdims=1)
        n.out(f"{kind[6:].lower()}_last", kind, x, axes=[-1], keepdims=0)
        n.out(f"{kind[6:].lower()}_23", kind, x, axes=[2, 3], keepdims=0)
    for name, axes in {"1": [1], "last": [-1], "23": [2, 3], "02": [0, 2], "0": [0]}.items():
        n.out(f"sum_{name}", "ReduceSum", x, np.array(axes, np.int64), keepdims=0)
        n.out(f"sum_{name}_keep", "ReduceSum", x, np.array(axes, np.int64), keepdims=1)


@cases("reduction__all_axes", seed="reduce_all_axes")
def _(n):
    x = n.x(3, 4, 5)
    n.out("sum", "ReduceSum", x, keepdims=0)
    n.out("mean_keep", "ReduceMean", x, keepdims=1)
    n.out("max", "ReduceMax", x, keepdims=0)
    n.out("min_02", "ReduceMin", x, axes=[0, 2], keepdims=0)
    n.out("mean_012", "ReduceMean", x, axes=[0, 1, 2], keepdims=0)
    n.out("max_one", "ReduceMax", n.x(1, 6, 1), axes=[0, 2], keepdims=0)
    n.out("mean_long", "ReduceMean", n.x(2, 2503), axes=[1], keepdims=1)


@cases("reduction__int", seed="reduce_int")
def _(n):
    x = n.xi(3, 5, 4, low=-5, high=6)
    n.out("sum", "ReduceSum", x, np.array([1], np.int64), keepdims=0)
    n.out("max", "ReduceMax", x, axes=[2], keepdims=1)
    n.out("min", "ReduceMin", x, axes=[0], keepdims=0)
    n.out("prod", "ReduceProd", x, axes=[2], keepdims=0)
    n.out("sum_all", "ReduceSum", x, keepdims=0)
