"""Expand, Tile, Range, LinSpace, OneHot, random numbers and zeros: tensors filled with repeated or computed values."""
import numpy as np
from onnx import TensorProto, helper

from generator.net import array, cases
from generator.wire_net import wire_cases


@cases("fill__expand_tile", seed="expand_tile")
def _(n):
    x = n.x(3, 1, 4)
    n.out("expand", "Expand", x, array(2, 3, 5, 4))
    n.out("expand_ones", "Expand", x, array(1, 2, 1))
    n.out("expand_scalar", "Expand", n.input(np.array(2.5, np.float32), "s"), array(2, 3))
    n.out("tile", "Tile", x, array(1, 2, 3))
    n.out("tile_rank4", "Tile", n.x(1, 5, 2, 3), array(2, 1, 2, 1))
    n.out("tile_int", "Tile", n.xi(2, 3), array(3, 2))
    n.out("expand_int", "Expand", n.xi(1, 3), array(4, 3))


@cases("fill__range_one_hot", seed="range_onehot")
def _(n):
    limit = n.input(np.array(9, np.int32), "limit")
    n.out("range", "Range", np.array(1, np.int32), limit, np.array(2, np.int32))
    stop = n.input(np.array(2.0, np.float32), "stop")
    n.out("range_float", "Range", np.float32(0.5), stop, np.float32(0.25))
    index = n.input(np.array([[0, 3], [2, 1], [4, 4]], np.int32), "index")
    n.out("onehot_last", "OneHot", index, np.array(5, np.int64), np.array([0, 1], np.float32), axis=-1)
    n.out("onehot_first", "OneHot", index, np.array(6, np.int64), np.array([-1, 2], np.float32), axis=0)
    n.out("onehot_1", "OneHot", index, np.array(5, np.int64), np.array([0.5, 1.5], np.float32), axis=1)
    n.out("constant_of_shape", "Add", n.op("ConstantOfShape", n.op("Shape", index),
          value=helper.make_tensor("v", TensorProto.INT32, [1], [3])), index)


@cases("fill__one_hot_forms")
def _(n):
    """Float indices, and negative ones, which ONNX counts from the end."""
    index = n.input(np.array([2, -1, 0, 4, -5, 5, -6], np.float32), "index")
    n.out("float", "OneHot", index, np.array(5, np.float32), np.array([0.5, 2], np.float32), axis=-1)
    whole = n.input(np.array([[1, -2], [-3, 0]], np.int32), "whole", as_type="int64")
    n.out("middle", "OneHot", whole, np.array(3, np.int64), np.array([0, 1], np.float32), axis=1)


@wire_cases("fill__one_hot_elsewhere")
def _(n):
    """Files of other frameworks: a negative index has no position."""
    index = np.array([2, -1, 0, 5], np.int32)
    i, depth = n.feed(index, "index"), n.const(np.int32(3))
    for dtype in (np.float32, np.int32, np.uint8):
        on, off = n.const(dtype(7)), n.const(dtype(1))
        y = n.op("OneHot", [i, depth, on, off], "OneHotParam", {"axis": -1})
        n.expect(np.dtype(dtype).name, y, np.where(index[:, None] == np.arange(3), dtype(7), dtype(1)).astype(dtype))


@wire_cases("fill__lin_space")
def _(n):
    for name, (start, stop, count) in {"seven": (-1.5, 2.25, 7), "one": (3, 9, 1), "two": (4, -4, 2)}.items():
        y = n.op("LinSpace", [n.feed(np.float32(start), f"start_{name}"), n.feed(np.float32(stop), f"stop_{name}"),
                              n.const(np.int32(count))])
        n.expect(name, y, np.linspace(start, stop, count).astype(np.float32))


@wire_cases("fill__random")
def _(n):
    """The first numbers of two generators: Park and Miller's minimal standard where the file has no seed, and MT19937,
    which is seeded with 1 whatever seed the file has."""
    shape = n.const(np.array([2, 2], np.int32))
    state, draws = 1, []
    for _ in range(4):
        state = state * 16807 % (2**31 - 1)
        draws.append((state - 1) / (2**31 - 2))
    plain = n.op("RandomUniform", [shape], "RandomUniform", {"low": -1, "high": 3})
    n.expect("uniform", plain, (np.array(draws).reshape(2, 2) * 4 - 1).astype(np.float32))
    twister = np.random.RandomState(1)
    words = twister.randint(0, 2**32, 4, dtype=np.uint64)
    seeded = n.op("RandomUniform", [shape], "RandomUniform", {"seed": 5, "low": 0, "high": 10})
    n.expect("seeded", seeded, (words.reshape(2, 2) / 2**32 * 10).astype(np.float32))
    normal = n.op("RandomNormal", [shape], "RandomUniform", {"seed": 5, "low": 2, "high": 3})
    # v and u of the polar method, in double precision.
    twister, values = np.random.RandomState(1), []
    while len(values) < 4:
        u, v = (twister.randint(0, 2**32, 2, dtype=np.uint64) / 2**32 * 2 - 1)
        q = u * u + v * v
        if 0 < q <= 1:
            m = np.sqrt(-2 * np.log(q) / q)
            values += [v * m, u * m]
    n.expect("normal", normal, (np.array(values).reshape(2, 2) * 3 + 2).astype(np.float32))


@wire_cases("fill__zeros")
def _(n):
    x = n.feed(n.floats(2, 3), "x")
    n.expect("grad", n.op("ZeroGrad", [x]), np.zeros((2, 3), np.float32))
    n.expect("like", n.op("ZerosLike", [n.feed(n.ints(4), "i")]), np.zeros(4, np.int32))
