"""ScatterND and ScatterElements."""
import numpy as np

from generator.net import array, cases
from generator.wire_net import wire_cases


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


REDUCTIONS = {"ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "MAXIMUM": np.maximum, "MINIMUM": np.minimum}


def reductions(n, dtype):
    """Duplicates and negative indices; updates in the order of the indices."""
    def values(*shape):
        return n.floats(*shape) if dtype == np.float32 else n.random.integers(0, 120, shape).astype(dtype)
    data, updates = values(4, 3), values(3, 3)
    x, u = n.feed(data, "x"), n.feed(updates, "u")
    rows = n.feed(np.array([[1], [-1], [1]], np.int32), "rows")
    shape = n.const(np.array([4, 3], np.int32))
    places = np.array([[0, -1, 2], [0, 1, -2], [3, 3, 3]], np.int32)
    index = n.feed(places, "places")
    axis = n.const(np.int32(0))
    for code, combine in REDUCTIONS.items():
        nd, elements = data.copy(), data.copy()
        for row, update in zip((1, -1, 1), updates):
            nd[row] = combine(nd[row], update)
        for (i, j), place in np.ndenumerate(places):
            elements[place, j] = combine(elements[place, j], updates[i, j])
        n.expect(f"nd_{code.lower()}", n.op("ScatterNd", [rows, u, shape, x], "BinaryOp", {"opType": code}), nd)
        n.expect(f"elements_{code.lower()}", n.op("ScatterElements", [x, index, u, axis], "BinaryOp", {"opType": code}),
                 elements)


for kind in (np.float32, np.int32, np.uint8):
    wire_cases(f"scatter__reductions_{np.dtype(kind).name}")(lambda n, dtype=kind: reductions(n, dtype))


@wire_cases("scatter__negative_indices")
def _(n):
    data = n.floats(4, 5)
    x = n.feed(data, "x")
    u = n.feed(n.floats(2, 5), "u")
    index = np.array([[-1, 0, -4, 2, 1], [1, -2, 3, -1, 0]], np.int32)
    i = n.feed(index, "i")
    axis = n.const(np.int32(0))
    elements = data.copy()
    np.put_along_axis(elements, index, n.inputs["u"], 0)
    n.expect("elements", n.op("ScatterElements", [x, i, u, axis], "BinaryOp", {"opType": -1}), elements)
    n.expect("gathered", n.op("GatherElements", [x, i, axis]), np.take_along_axis(data, index, 0))
    rows = n.feed(np.array([[-2, -1], [1, -5]], np.int32), "rows")
    n.expect("gathered_nd", n.op("GatherND", [x, rows]), data[[-2, 1], [-1, -5]])
    points = data.copy()
    points[[-2, 1], [-1, -5]] = [7, 8]
    seven = n.feed(np.array([7, 8], np.float32), "seven")
    n.expect("nd", n.op("ScatterNd", [rows, seven, n.const(np.array([4, 5], np.int32)), x]), points)
