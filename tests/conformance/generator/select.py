"""Where, NonZero, Compress and Cast."""
import numpy as np
from onnx import TensorProto

from generator.net import array, cases


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
