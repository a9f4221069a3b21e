"""Gather and its relatives: every axis of every rank, indices of every rank, every type."""
import numpy as np

from generator.forms.common import TYPES, axis_name, draw, form

SHAPE = (4, 3, 2, 2, 1, 2)
INDICES = {"scalar": (), "list": (3,), "table": (2, 2), "one": (1,), "none": (0,)}


def positions(n, extent, shape, signed=True):
    return n.random.integers(-extent if signed else 0, extent, shape).astype(np.int32)


def gather(n, kind, rank, dtype):
    x = draw(n, dtype, SHAPE[:rank])
    feed = n.feed(x, "x")
    for name, shape in INDICES.items():
        for axis in sorted({0} if kind == "Gather" else {rank // 2, -1, -rank}):
            index = positions(n, x.shape[axis], shape, False)
            at = n.feed(index)
            inputs = [feed, at] + ([] if kind == "Gather" else [n.const(np.int32(axis))])
            y = n.op(kind, inputs, *(("Gather", {}) if kind == "Gather" else ("GatherV2", {})))
            n.expect(f"{name}_{axis_name(axis)}", y, x.take(index, axis))


def gather_nd(n, rank, dtype):
    x = draw(n, dtype, SHAPE[:rank])
    feed = n.feed(x, "x")
    for depth in range(1, rank + 1):
        for name, shape in (("row", (1,)), ("list", (3,)), ("table", (2, 2)), ("vector", ())):
            index = np.stack([positions(n, x.shape[i], shape) for i in range(depth)], -1)
            y = n.op("GatherND", [feed, n.feed(index)])
            n.expect(f"depth{depth}_{name}", y, x[tuple(np.moveaxis(index, -1, 0))])


def gather_elements(n, rank, dtype):
    x = draw(n, dtype, SHAPE[:rank])
    feed = n.feed(x, "x")
    for axis in range(-rank, rank):
        shape = tuple(3 if i == axis % rank else e for i, e in enumerate(x.shape))
        index = positions(n, x.shape[axis], shape)
        y = n.op("GatherElements", [feed, n.feed(index), n.const(np.int32(axis))])
        n.expect(axis_name(axis), y, np.take_along_axis(x, index, axis))


for of_rank in range(1, 7):
    form(f"gather__rows_rank{of_rank}", gather, "Gather", of_rank, TYPES[of_rank % 4])
    form(f"gather__axis_rank{of_rank}", gather, "GatherV2", of_rank, TYPES[(of_rank + 1) % 4])
for of_rank in range(1, 5):
    form(f"gather__nd_rank{of_rank}", gather_nd, of_rank, TYPES[(of_rank + 2) % 4])
    form(f"gather__elements_rank{of_rank}", gather_elements, of_rank, TYPES[(of_rank + 3) % 4])
