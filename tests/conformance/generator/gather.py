"""Gather and its variants."""
import numpy as np

from generator.net import array, cases


@cases("gather__axes", seed="gather")
def _(n):
    x = n.x(4, 5, 6)
    for axis in (0, 1, 2, -1):
        n.out(f"axis{axis}".replace("-", "m"), "Gather", x, np.array([[0, 3], [2, 1]], np.int64), axis=axis)
    n.out("scalar", "Gather", x, np.array(2, np.int64), axis=1)
    n.out("negative", "Gather", x, np.array([-1, -3], np.int64), axis=1)
    index = n.input(np.array([3, 0, 0, 2], np.int32), "index")
    n.out("fed", "Gather", x, index, axis=0)
    n.out("fed_axis2", "Gather", x, index, axis=2)
    n.out("embedding", "Gather", n.floats(11, 7), index, axis=0)
    negative = n.input(np.array([-1, 1, -4], np.int32), "negative_index")
    n.out("fed_negative", "Gather", x, negative, axis=0)
    n.out("int", "Gather", n.xi(5, 3), index, axis=0)
    n.out("rank4_channel", "Gather", n.x(2, 9, 3, 2), np.array([8, 0, 4], np.int64), axis=1)


@cases("gather__nd_elements", seed="gather_nd_elements")
def _(n):
    x = n.x(3, 4, 5)
    n.out("nd_full", "GatherND", x, np.array([[0, 1, 2], [2, 3, 4]], np.int64))
    n.out("nd_rows", "GatherND", x, np.array([[[0, 1]], [[2, 3]]], np.int64))
    n.out("nd_slices", "GatherND", x, np.array([[2], [0]], np.int64))
    n.out("nd_batch", "GatherND", x, np.array([[0], [3], [1]], np.int64), batch_dims=1)
    index = n.input(np.array([[0, 0], [2, 1]], np.int32), "index", as_type="int64")
    n.out("nd_fed", "GatherND", x, index)
    e = n.input(n.ints(3, 2, 5, low=0, high=4), "element")
    n.out("elements_1", "GatherElements", x, e, axis=1)
    n.out("elements_2", "GatherElements", x, n.ints(3, 4, 2, low=0, high=5).astype(np.int64), axis=-1)
    n.out("elements_0", "GatherElements", x, n.ints(2, 4, 5, low=0, high=3).astype(np.int64), axis=0)


@cases("gather__nd_batch_dims")
def _(n):
    """The converter adds the offset of the batch to every index of a row."""
    x = n.x(2, 3, 4, 5)
    pairs = n.input(np.stack([n.random.integers(0, 3, (2, 6)), n.random.integers(-4, 4, (2, 6))], -1).astype(np.int32),
                    "pairs", as_type="int64")
    n.out("pairs_1", "GatherND", x, pairs, batch_dims=1)
    single = n.input(n.ints(2, 3, 2, 1, low=-4, high=4), "single", as_type="int64")
    n.out("single_2", "GatherND", x, single, batch_dims=2)
    three = n.input(np.stack([n.random.integers(0, e, (2, 2)) for e in (3, 4, 5)], -1).astype(np.int32), "three",
                    as_type="int64")
    n.out("three_1", "GatherND", x, three, batch_dims=1)
