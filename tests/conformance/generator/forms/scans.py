"""CumSum, CumProd, Softmax, MatrixBandPart, EyeLike."""
import numpy as np

from generator.forms.common import axis_name, draw, form, ints, wide

SHAPE = (3, 2, 3, 1, 2, 2)


def cum_sum(n, exclusive, reverse):
    for rank in (1, 2, 3, 6):
        for dtype in (np.float32, np.int32):
            x = draw(n, dtype, SHAPE[:rank])
            feed = n.feed(x)
            axis = -(rank // 2) - 1 if dtype == np.int32 else rank // 2
            turned = np.flip(wide(x), axis) if reverse else wide(x)
            total = np.cumsum(turned, axis) - (turned if exclusive else 0)
            y = n.op("CumSum", [feed, n.const(np.int32(axis))], "CumSum", {"exclusive": exclusive, "reverse": reverse})
            n.expect(f"rank{rank}_{dtype.__name__}", y, np.flip(total, axis) if reverse else total)


for is_exclusive in (False, True):
    for is_reverse in (False, True):
        variant = "_".join(["cum_sum"] + ["exclusive"] * is_exclusive + ["reverse"] * is_reverse)
        form(f"scan__{variant}_ranks", cum_sum, is_exclusive, is_reverse)


def cum_prod(n, dtype):
    for rank in (1, 2, 3, 6):
        x = draw(n, dtype, SHAPE[:rank], *((0.5, 2) if dtype == np.float32 else (-3, 4)))
        for axis in (0, -1):
            y = n.op("CumProd", [n.feed(x)], "Axis", {"axis": axis})
            n.expect(f"rank{rank}_{axis_name(axis)}", y, np.cumprod(wide(x), axis).astype(dtype))


form("scan__cum_prod_float32", cum_prod, np.float32)
form("scan__cum_prod_int32", cum_prod, np.int32)


def softmax(n, rank):
    x = draw(n, np.float32, (2, 3, 5, 1, 2, 2)[:rank], -6, 6)
    feed = n.feed(x, "x")
    for axis in range(-rank if rank < 4 else -1, rank):
        grown = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
        y = n.op("Softmax", [feed], "Axis", {"axis": axis})
        n.expect(axis_name(axis), y, grown / grown.sum(axis, keepdims=True))


def softmax_rows(n):
    """Row lengths near those of vectors, and large values."""
    for size in (1, 2, 15, 16, 17, 33, 129):
        x = draw(n, np.float32, (2, size), -60, 60)
        grown = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        n.expect(f"size_{size}", n.op("Softmax", [n.feed(x)], "Axis", {"axis": 1}), grown / grown.sum(1, keepdims=True))


for of_rank in range(1, 7):
    form(f"softmax__rank{of_rank}", softmax, of_rank)
form("softmax__row_lengths", softmax_rows)


def band_part(n, rank):
    x = draw(n, np.float32, (1, 2, 3, 2, 5, 4)[6 - rank:])
    feed = n.feed(x, "x")
    row, column = np.indices(x.shape[-2:])
    for lower, upper in ((0, 0), (-1, 0), (0, -1), (1, 2), (-1, 1), (3, -1), (9, 9)):
        y = n.op("MatrixBandPart", [feed, n.const(np.int32(lower)), n.const(np.int32(upper))])
        keep = ((lower < 0) | (row - column <= lower)) & ((upper < 0) | (column - row <= upper))
        n.expect(f"lower{lower}_upper{upper}".replace("-", "m"), y, x * keep)


for of_rank in range(2, 7):
    form(f"scan__band_part_rank{of_rank}", band_part, of_rank)


def eye_like(n, dtype):
    for shape in ((3, 3), (2, 5), (4, 2), (1, 1)):
        like = n.feed(np.zeros(shape, dtype))
        for k in (0, 1, -1, 7):
            y = n.op("EyeLike", [like, ints(n, k)])
            n.expect(f"{shape[0]}x{shape[1]}_k{k}".replace("-", "m"), y, np.eye(*shape, k, dtype=dtype))


form("scan__eye_float32", eye_like, np.float32)
form("scan__eye_int32", eye_like, np.int32)
