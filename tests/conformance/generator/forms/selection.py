"""Where, Unique, SetDiff1D, UnravelIndex, TopKV2, NonMaxSuppressionV2."""
import numpy as np

from generator.forms.common import form, name_of


def where(n, dtype):
    """The positions of elements that are not zero, row after row."""
    for rank in range(1, 7):
        x = n.random.integers(0 if dtype == np.uint8 else -1, 2, (2, 3, 2, 1, 3, 2)[:rank]).astype(dtype)
        y = n.op("Where", [n.feed(x, f"x{rank}")], "Extra", {})
        n.expect(f"rank{rank}", y, np.argwhere(x).astype(np.int32))
    for name, x in (("none", np.zeros((3, 2), dtype)), ("all", np.ones((2, 2), dtype)),
                    ("empty", np.zeros((0, 3), dtype))):
        n.expect(name, n.op("Where", [n.feed(x, name + "_x")], "Extra", {}), np.argwhere(x).astype(np.int32))


def top_ties(n, dtype):
    """Among equal elements the first one in memory comes first."""
    x = n.random.integers(0, 4, (3, 9)).astype(dtype)
    feed = n.feed(x, "x")
    for largest in (True, False):
        for axis, counts in ((1, (1, 4, 9)), (0, (2, 3))):
            order = np.argsort(-x.astype(int) if largest else x, axis, kind="stable").astype(np.int32)
            for count in counts:
                made = n.op("TopKV2", [feed, n.const(np.int32(count)), n.const(np.int32(axis))], "TopKV2",
                            {"largest": largest}, count=2)
                name = f"{'largest' if largest else 'smallest'}_axis{axis}_{count}"
                index = order.take(range(count), axis)
                n.expect(name, made[0], np.take_along_axis(x, index, axis))
                n.expect(f"{name}_index", made[1], index)


def unique(n, dtype):
    for name, size in (("one", 1), ("few", 5), ("many", 31), ("none", 0)):
        x = (n.random.integers(-4, 5, size) * (0.5 if dtype == np.float32 else 1)).astype(dtype)
        made = n.op("Unique", [n.feed(x, f"x_{name}")], count=4)
        truth = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
        for part, tensor, value in zip(("values", "first", "inverse", "counts"), made, truth):
            n.expect(f"{name}_{part}", tensor, value if part == "values" else value.astype(np.int32))


def difference(n):
    for name, (a, b) in {"some": (13, 4), "none_left": (5, 40), "nothing_taken": (6, 0), "of_nothing": (0, 3)}.items():
        left, right = n.ints(a, low=-5, high=6), n.ints(b, low=-5, high=6)
        y = n.op("SetDiff1D", [n.feed(left, f"a_{name}"), n.feed(right, f"b_{name}")])
        n.expect(name, y, left[~np.isin(left, right)])


def unravel(n):
    for rank in (1, 2, 3, 5):
        shape = (3, 4, 2, 5, 2)[:rank]
        size = int(np.prod(shape))
        for name, index in (("list", n.random.integers(0, size, 4)), ("last", np.array(size - 1)), ("one", np.array([0]))):
            index = index.astype(np.int32)
            y = n.op("UnravelIndex", [n.feed(index), n.const(np.array(shape, np.int32))])
            n.expect(f"rank{rank}_{name}", y, np.array(np.unravel_index(index, shape), np.int32))


def overlap(a, b):
    """Returns the intersection of two boxes, given by two opposite corners each, divided by their union."""
    (a0, a1), (b0, b1) = ((np.minimum(c[:2], c[2:]), np.maximum(c[:2], c[2:])) for c in (a, b))
    both = np.prod(np.maximum(np.minimum(a1, b1) - np.maximum(a0, b0), 0))
    total = np.prod(a1 - a0) + np.prod(b1 - b0) - both
    return both / total if both > 0 else 0


def suppress(n, corners):
    """TensorFlow's form: the positions of the boxes that are kept, by falling score; corners in either order."""
    for name, (count, limit, share, least) in {"plain": (9, 20, 0.4, None), "limited": (9, 2, 0.4, None),
                                               "scores": (9, 9, 0.5, 0.5), "strict": (7, 9, 0.0, None),
                                               "one": (1, 1, 0.5, None)}.items():
        first = n.floats(count, 2, low=0, high=5)
        boxes = np.concatenate([first, first + n.floats(count, 2, low=1, high=4)], 1)
        if corners == "swapped":
            boxes = np.ascontiguousarray(boxes[:, [2, 3, 0, 1]])
        scores = n.random.permutation(np.linspace(0.05, 0.95, count)).astype(np.float32)
        kept = []
        for i in np.argsort(-scores):
            apart = all(overlap(boxes[i].astype(float), boxes[j].astype(float)) <= share for j in kept)
            if apart and len(kept) < limit and (least is None or scores[i] > least):
                kept.append(i)
        inputs = [n.feed(boxes, f"boxes_{name}"), n.feed(scores, f"scores_{name}"), n.const(np.int32(limit)),
                  n.const(np.float32(share))] + ([n.const(np.float32(least))] if least is not None else [])
        y = n.op("NonMaxSuppressionV2", inputs, "NonMaxSuppressionV2", {})
        n.expect(name, y, np.array(kept, np.int32))


for element in (np.float32, np.int32, np.uint8):
    form(f"select__where_{name_of(element)}", where, element)
    form(f"search__ties_{name_of(element)}", top_ties, element)
for element in (np.float32, np.int32):
    form(f"select__unique_{name_of(element)}", unique, element)
form("select__set_difference_sizes", difference)
form("select__unravel_ranks", unravel)
form("non_max_suppression__boxes", suppress, "plain")
form("non_max_suppression__swapped_corners", suppress, "swapped")
