"""TopK, ArgMax, ArgMin."""
import numpy as np

from generator.net import array, cases
from generator.wire_net import wire_cases


@cases("search__topk_argmax", seed="topk_argmax")
def _(n):
    x = n.x(3, 11, 5)
    n.outs(["largest_values", "largest_index"], "TopK", x, array(4), axis=1)
    n.outs(["smallest_values", "smallest_index"], "TopK", x, array(3), axis=-1, largest=0)
    n.outs(["axis0_values", "axis0_index"], "TopK", x, array(2), axis=0)
    for axis in (0, 1, 2, -1):
        n.out(f"argmax{axis}".replace("-", "m"), "ArgMax", x, axis=axis, keepdims=0)
        n.out(f"argmin{axis}_keep".replace("-", "m"), "ArgMin", x, axis=axis, keepdims=1)
    n.out("argmax_ties", "ArgMax", n.input(np.array([[1, 3, 3, 2], [5, 5, 5, 5]], np.float32), "ties"), axis=1)
    n.out("argmax_rank4", "ArgMax", n.x(2, 7, 3, 4), axis=1, keepdims=0)
    n.out("argmax_long", "ArgMax", n.x(1, 1001, name="long"), axis=1, keepdims=0)


@cases("search__topk_fed", seed="topk_fed")
def _(n):
    x = n.x(2, 13)
    k = n.input(np.array([5], np.int32), "k", as_type="int64")
    n.outs(["values", "index"], "TopK", x, k, axis=1)
    tied = n.input(np.array([3, 1, 3, 2, 3, 1], np.float32), "tied")
    n.outs(["tied_values", ""], "TopK", tied, array(4), axis=0)


@wire_cases("search__narrow_types")
def _(n):
    for dtype in (np.int8, np.uint8):
        name = np.dtype(dtype).name
        values = np.stack([n.random.permutation(40)[:7] for _ in range(6)]).reshape(2, 3, 7) * 3 - (60 if dtype == np.int8 else 0)
        x = n.feed(values.astype(dtype), name)
        n.expect(f"arg_max_{name}", n.op("ArgMax", [x], "ArgMax", {"axis": -1}), values.argmax(-1).astype(np.int32))
        n.expect(f"arg_min_{name}", n.op("ArgMin", [x], "ArgMax", {"axis": 1}), values.argmin(1).astype(np.int32))
        top, at = n.op("TopKV2", [x, n.const(np.int32(3))], "TopKV2", {"largest": True}, count=2)
        order = np.argsort(-values, -1)[..., :3]
        n.expect(f"top_{name}", top, np.take_along_axis(values, order, -1).astype(dtype))
        n.expect(f"top_at_{name}", at, order.astype(np.int32))


@wire_cases("search__packed_lists")
def _(n):
    """ArgMax of files of Caffe: lists of positions, and of values; without an axis (10000), of a whole image."""
    values = n.random.permutation(2 * 3 * 4 * 5).reshape(2, 3, 4, 5).astype(np.float32)
    x = n.feed(values, "x", data_format="NC4HW4")
    flat = values.reshape(2, -1)
    order = np.argsort(-flat, -1)[:, :4]
    for name, both in (("positions", 0), ("values", 1)):
        y = n.op("ArgMax", [x], "ArgMax", {"axis": 10000, "topK": 4, "outMaxVal": both}, data_format="NC4HW4")
        lists = [order, np.take_along_axis(flat, order, -1)][: both + 1]
        n.expect(f"image_{name}", y, np.stack(lists, 1)[..., None].astype(np.float32))
    order = np.argsort(-values, 1)[:, :2]
    y = n.op("ArgMax", [x], "ArgMax", {"axis": 1, "topK": 2, "outMaxVal": 1}, data_format="NC4HW4")
    n.expect("channel", y, np.concatenate([order, np.take_along_axis(values, order, 1)], 1).astype(np.float32))
