"""Expand, Tile, Range, OneHot: tensors filled with repeated or computed values."""
import numpy as np
from onnx import TensorProto, helper

from generator.net import array, cases


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
