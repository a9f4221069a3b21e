"""TopK, ArgMax, ArgMin."""
import numpy as np

from generator.net import array, cases


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
