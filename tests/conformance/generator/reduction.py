"""Reductions."""
import numpy as np

from generator.net import array, cases
from generator.wire_net import wire_cases


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


def reduce(n, x, code, axes, keep=False):
    return n.op("Reduction", [x], "ReductionParam", {"operation": code, "dim": list(axes), "keepDims": keep})


CODES = {"SUM": np.sum, "ASUM": lambda v, axis, keepdims: np.abs(v).sum(axis=axis, keepdims=keepdims),
         "SUMSQ": lambda v, axis, keepdims: np.square(v).sum(axis=axis, keepdims=keepdims), "MEAN": np.mean,
         "MAXIMUM": np.max, "MINIMUM": np.min, "PROD": np.prod, "ANY": np.any, "ALL": np.all}
AXES = {"last": (3,), "first": (0,), "plane": (2, 3), "apart": (0, 2), "all": (0, 1, 2, 3)}


def codes(n, dtype, names=tuple(AXES)):
    shape = (2, 3, 5, 4)
    values = n.random.integers(0 if dtype == np.uint8 else -3, 4, shape).astype(dtype)
    if dtype == np.float32:
        values = values * n.floats(*shape, low=0.5, high=1)
    values[:, 1] = 0
    values[1] = np.where(values[1] == 0, 1, values[1])
    x = n.feed(values, "x")
    wide = values.astype(np.float64 if dtype == np.float32 else np.int64)
    for code, truth in CODES.items():
        for name in names:
            want = truth(wide, axis=AXES[name], keepdims=name == "plane")
            if code == "MEAN" and dtype != np.float32:
                want = np.trunc(want)
            n.expect(f"{code.lower()}_{name}", reduce(n, x, code, AXES[name], name == "plane"), np.asarray(want).astype(dtype))


@wire_cases("reduction__codes_float")
def _(n):
    codes(n, np.float32)


for integer in (np.int32, np.int8, np.uint8):
    wire_cases(f"reduction__codes_{np.dtype(integer).name}")(
        lambda n, dtype=integer: codes(n, dtype, ("last", "apart", "all")))


@wire_cases("reduction__long")
def _(n):
    values = n.floats(3, 1031)
    x = n.feed(values, "x")
    for code in ("ASUM", "SUMSQ", "SUM"):
        n.expect(f"{code.lower()}_row", reduce(n, x, code, (1,)), CODES[code](values.astype(np.float64), axis=1, keepdims=False).astype(np.float32))
        n.expect(f"{code.lower()}_column", reduce(n, x, code, (0,)), CODES[code](values.astype(np.float64), axis=0, keepdims=False).astype(np.float32))


@wire_cases("reduction__of_nothing")
def _(n):
    """The result for no elements, which ONNX defines: the neutral element of each operation."""
    x, i = n.feed(np.zeros((2, 0, 3), np.float32), "x"), n.feed(np.zeros((2, 0), np.int32), "i")
    for code, value, whole in (("SUM", 0, 0), ("ASUM", 0, 0), ("PROD", 1, 1), ("MAXIMUM", -np.inf, -2**31),
                               ("MINIMUM", np.inf, 2**31 - 1), ("ANY", 0, 0), ("ALL", 1, 1)):
        n.expect(f"{code.lower()}_float", reduce(n, x, code, (1,)), np.full((2, 3), value, np.float32))
        n.expect(f"{code.lower()}_int", reduce(n, i, code, (1,)), np.full(2, whole, np.int32))


@cases("reduction__fed_empty_axes", opset=18)
def _(n):
    """No axes mean all of them, as in ONNX without noop_with_empty_axes, which no file contains."""
    x = n.x(3, 2, 2)
    axes = n.input(np.zeros(0, np.int32), "axes", as_type="int64")
    n.out("sum", "ReduceSum", x, axes, keepdims=1)
    n.out("max", "ReduceMax", x, axes, keepdims=0)


@wire_cases("reduction__tensorflow_no_axes")
def _(n):
    """In files of TensorFlow no axes mean none."""
    n.source = "TENSORFLOW"
    x, axes = n.feed(n.floats(3, 2), "x"), n.feed(np.zeros(0, np.int32), "axes")
    for code in ("SUM", "MAXIMUM", "SUMSQ"):
        y = n.op("Reduction", [x, axes], "ReductionParam", {"operation": code})
        n.expect(code.lower(), y, n.inputs["x"] ** 2 if code == "SUMSQ" else n.inputs["x"])
