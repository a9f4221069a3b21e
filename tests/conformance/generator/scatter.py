"""ScatterND and ScatterElements."""
import numpy as np

from generator.net import array, cases


@cases("scatter__forms", seed="scatter")
def _(n):
    x = n.x(4, 5, 3)
    u = n.x(2, 5, 3, name="updates")
    n.out("nd_rows", "ScatterND", x, np.array([[3], [1]], np.int64), u)
    n.out("nd_points", "ScatterND", x, np.array([[0, 0, 0], [3, 4, 2], [1, 2, 1]], np.int64), n.x(3, name="points"))
    index = n.input(np.array([[2, 1], [0, 4]], np.int32), "index", as_type="int64")
    n.out("nd_fed", "ScatterND", x, index, n.x(2, 3, name="rows"))
    n.out("elements_0", "ScatterElements", x, np.array([[[0, 1, 2], [3, 2, 1]]], np.int64), n.x(1, 2, 3, name="e0"))
    n.out("elements_1", "ScatterElements", x, np.array([[[0, 1, 2], [3, 2, 1]]], np.int64), n.x(1, 2, 3, name="e1"),
          axis=1)
    n.out("nd_int", "ScatterND", n.xi(6), np.array([[1], [4]], np.int64), n.xi(2))


@cases("scatter__add", seed="scatter_add", opset=16)
def _(n):
    x = n.x(4, 5)
    n.out("elements_add", "ScatterElements", x, np.array([[1, 1, 0], [2, 3, 2]], np.int64), n.x(2, 3, name="e"),
          reduction="add")
