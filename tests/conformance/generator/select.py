"""Where, NonZero, Compress and Cast."""
import numpy as np
from onnx import TensorProto

from generator.net import array, cases
from generator.wire_net import wire_cases


@cases("select__where_cast", seed="where_cast")
def _(n):
    a, b = n.x(2, 5, 3, name="a"), n.x(2, 5, 3, name="b")
    mask = n.op("Greater", a, b)
    n.out("where", "Where", mask, a, b)
    n.out("where_scalar", "Where", mask, a, np.float32(-3))
    n.out("where_row", "Where", n.op("Less", n.x(5, 1, name="c"), np.float32(0)), a, n.floats(3))
    n.out("where_int", "Where", mask, np.array(4, np.int32), n.xi(2, 5, 3, name="i"))
    n.out("bool_to_float", "Cast", mask, to=TensorProto.FLOAT)
    n.out("to_int", "Cast", n.op("Mul", a, np.float32(3.7)), to=TensorProto.INT32)
    n.out("to_int64", "Cast", n.op("Mul", a, np.float32(-2.3)), to=TensorProto.INT64)
    n.out("int_to_float", "Cast", n.xi(7, name="j"), to=TensorProto.FLOAT)
    n.out("int_to_bool", "Cast", n.xi(9, name="k", low=-1, high=2), to=TensorProto.BOOL, official=True)
    n.out("float_to_bool", "Cast", n.input(np.array([0, 0.4, -2, 0, 1], np.float32), "f"), to=TensorProto.BOOL,
          official=True)


@cases("select__nonzero", seed="nonzero")
def _(n):
    x = n.input(n.random.integers(0, 2, (4, 7)).astype(np.float32))
    n.out("rank2", "NonZero", x)
    y = n.input(n.random.integers(0, 2, (2, 3, 4)).astype(np.int32))
    n.out("rank3_int", "NonZero", y)
    n.out("gathered", "GatherND", n.x(4, 7, name="z"), n.op("Transpose", n.op("NonZero", x), perm=[1, 0]))
    n.out("compress", "Compress", n.x(5, 3, name="c"), np.array([1, 0, 1, 1, 0], bool), axis=0)


@cases("select__nonzero_none", seed="nonzero_none")
def _(n):
    n.out("none", "NonZero", n.input(np.zeros((3, 4), np.float32)))


@wire_cases("select__unique")
def _(n):
    """Values are sorted as numbers; both zeros count as one value."""
    def outputs(name, x, values):
        truth = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
        made = n.op("Unique", [x], count=4)
        for part, tensor, value in zip(("values", "first", "inverse", "counts"), made, truth):
            value = value + 0 if part == "values" else value.astype(np.int32)
            n.expect(f"{name}_{part}", tensor, value)
    values = np.array([1.5, -2, 0, -0.0, -3, 7, -2, 1.5, -1e-20, 2], np.float32)
    outputs("float", n.feed(values, "x"), values)
    whole = n.ints(17, low=-4, high=5)
    outputs("int", n.feed(whole, "i"), whole)
    n.expect("one_output", n.op("Unique", [n.feed(values[:5], "five")]), np.array([-3, -2, 0, 1.5], np.float32))


@wire_cases("select__set_difference")
def _(n):
    a, b = n.ints(19, low=-6, high=7), n.ints(5, low=-6, high=7)
    y = n.op("SetDiff1D", [n.feed(a, "a"), n.feed(b, "b")])
    n.expect("kept", y, a[~np.isin(a, b)])


@wire_cases("select__unravel_index")
def _(n):
    shape = n.feed(np.array([3, 4, 5], np.int32), "shape")
    index = n.feed(np.array([0, 59, 17, 20], np.int32), "index")
    n.expect("several", n.op("UnravelIndex", [index, shape]), np.array(np.unravel_index([0, 59, 17, 20], (3, 4, 5)), np.int32))
    n.expect("one", n.op("UnravelIndex", [n.feed(np.int32(33), "scalar"), shape]),
             np.array(np.unravel_index(33, (3, 4, 5)), np.int32))


@wire_cases("select__narrow_types")
def _(n):
    condition = n.random.integers(0, 2, (3, 1)).astype(np.int32)
    c = n.feed(condition, "condition")
    for dtype in (np.int8, np.uint8):
        name = np.dtype(dtype).name
        a, b = n.random.integers(0, 99, (3, 4)).astype(dtype), n.random.integers(0, 99, 4).astype(dtype)
        y = n.op("Select", [c, n.feed(a, f"a_{name}"), n.feed(b, f"b_{name}")])
        n.expect(name, y, np.where(condition != 0, a, b))
    u = n.feed(n.random.integers(0, 2, (3, 4)).astype(np.uint8), "u")
    x, z = n.feed(n.floats(3, 4), "x"), n.feed(n.floats(), "z")
    n.expect("uint8_condition", n.op("Select", [u, x, z]), np.where(n.inputs["u"] != 0, n.inputs["x"], n.inputs["z"]))
