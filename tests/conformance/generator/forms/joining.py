"""Concat, Pack, Unpack, Slice: every axis of every rank, every type."""
import numpy as np

from generator.forms.common import TYPES, axis_name, draw, form

SHAPE = (2, 3, 2, 1, 2, 3)


def concat(n, rank, dtype):
    shape = SHAPE[:rank]
    first = draw(n, dtype, shape)
    feed = n.feed(first, "first")
    for axis in range(-rank if rank < 5 else 0, rank):
        other = draw(n, dtype, tuple(2 if i == axis % rank else e for i, e in enumerate(shape)))
        empty = np.zeros(tuple(0 if i == axis % rank else e for i, e in enumerate(shape)), dtype)
        parts = [first, other, empty, first]
        y = n.op("Concat", [feed, n.feed(other), n.feed(empty), feed], "Axis", {"axis": axis})
        n.expect(axis_name(axis), y, np.concatenate(parts, axis))


def concat_counts(n):
    """One input, and as many as 9, of each type."""
    for count, dtype in zip((1, 2, 5, 9), TYPES):
        parts = [draw(n, dtype, (2, 1 + i % 3, 3)) for i in range(count)]
        y = n.op("Concat", [n.feed(p) for p in parts], "Axis", {"axis": 1})
        n.expect(f"inputs_{count}", y, np.concatenate(parts, 1))


def pack(n, rank, dtype):
    parts = [draw(n, dtype, SHAPE[:rank]) for _ in range(3)]
    feeds = [n.feed(p) for p in parts]
    for axis in range(-rank - 1, rank + 1):
        n.expect(axis_name(axis), n.op("Pack", feeds, "PackParam", {"axis": axis}), np.stack(parts, axis))


def unpack(n, rank, dtype):
    x = draw(n, dtype, (2, 3, 1, 2, 3, 2)[:rank])
    feed = n.feed(x, "x")
    for axis in range(-rank, rank):
        outputs = n.op("Unpack", [feed], "Axis", {"axis": axis}, count=x.shape[axis])
        for i, part in enumerate(outputs if isinstance(outputs, list) else [outputs]):
            n.expect(f"{axis_name(axis)}_{i}", part, x.take(i, axis))


def split(n, rank, source, dtype):
    """source CAFFE: positions of the cuts; TENSORFLOW: sizes; ONNX: equal parts."""
    n.source = source
    x = draw(n, dtype, (6, 2, 6, 1)[:rank])
    feed = n.feed(x, "x")
    for axis in range(-rank, rank):
        if x.shape[axis] != 6:
            continue
        points, cuts = {"CAFFE": ([1, 4], [1, 4]), "TENSORFLOW": ([3, 1, 2], [3, 4]), "ONNX": ([], [2, 4])}[source]
        outputs = n.op("Slice", [feed], "Slice", {"axis": axis, "slicePoints": points, "sourceType": source}, count=3)
        for i, (tensor, part) in enumerate(zip(outputs, np.split(x, cuts, axis))):
            n.expect(f"{axis_name(axis)}_{i}", tensor, part)


def split_rest(n):
    """Parts of one length, and a shorter last one: num_outputs of ONNX, chunk and split of PyTorch."""
    x = draw(n, np.float32, (2, 10, 3))
    feed = n.feed(x, "x")
    for source, points in (("ONNX", []), ("TORCH", []), ("TORCH", [4])):
        outputs = n.op("Slice", [feed], "Slice", {"axis": 1, "slicePoints": points, "sourceType": source}, count=3)
        for i, (tensor, part) in enumerate(zip(outputs, np.split(x, [4, 8], 1))):
            n.expect(f"{source.lower()}_{len(points)}_{i}", tensor, part)


form("slice__split_rest", split_rest)
for of_rank in range(1, 7):
    form(f"concat__axes_rank{of_rank}", concat, of_rank, TYPES[of_rank % 4])
    form(f"concat__unpack_rank{of_rank}", unpack, of_rank, TYPES[(of_rank + 2) % 4])
for of_rank in (0, 1, 2, 3, 5):
    form(f"concat__pack_rank{of_rank}", pack, of_rank, TYPES[(of_rank + 1) % 4])
for of_rank in (1, 3):
    for framework in ("CAFFE", "TENSORFLOW", "ONNX"):
        form(f"slice__split_{framework.lower()}_rank{of_rank}", split, of_rank, framework, TYPES[of_rank % 4])
form("concat__counts", concat_counts)
