"""Reshape and its relatives, transpositions, reversals, Tile and BroadcastTo."""
import itertools

import numpy as np

from generator.forms.common import FEW, TYPES, axis_name, draw, form, ints, name_of


def reshape(n, dtype, fed):
    for name, shape, target in (("to_rank1", (2, 3, 4), (-1,)), ("to_rank6", (4, 6), (1, 2, 2, 3, -1, 2)),
                                ("keeps", (2, 3, 4), (0, -1)), ("keeps_two", (3, 2, 4), (0, 0, 2, 2)),
                                ("to_scalar", (1, 1), ()), ("of_scalar", (), (1, 1)), ("same", (5,), (5,)),
                                ("empty", (0, 3), (3, 0) if not fed else (0, 3)), ("rank5", (2, 1, 3, 1, 5), (5, 6))):
        x = draw(n, dtype, shape)
        whole = [shape[i] if e == 0 and x.size else e for i, e in enumerate(target)]
        if not target and fed:
            continue  # a list without elements
        if name == "empty":
            whole = list(target)
            if not fed:
                continue  # 0 in a table means to keep the extent
        inputs = [n.feed(x, f"x_{name}")] + ([ints(n, *target)] if fed else [])
        y = n.op("Reshape", inputs, "Reshape", {"dimType": "NCHW", **({} if fed else {"dims": list(target)})})
        n.expect(name, y, x.reshape(whole))


def flatten(n, dtype):
    for rank in (1, 2, 4, 6):
        x = draw(n, dtype, (2, 1, 3, 2, 1, 2)[:rank])
        feed = n.feed(x, f"x{rank}")
        for axis in range(-rank, rank + 1):
            y = n.op("Flatten", [feed], "Flatten", {"axis": axis})
            n.expect(f"rank{rank}_{axis_name(axis)}", y,
                     x.reshape(int(np.prod(x.shape[:axis if axis >= 0 else axis + rank])), -1))


def squeeze(n, dtype):
    x = draw(n, dtype, (1, 3, 1, 2, 1, 1))
    feed = n.feed(x, "x")
    for axes in ((0,), (2,), (-1,), (0, 2), (4, 5), (-1, -2), (5, 0, 2), (0, 2, 4, 5)):
        y = n.op("Squeeze", [feed], "SqueezeParam", {"squeezeDims": list(axes)})
        n.expect("_".join(map(axis_name, axes)), y, x.squeeze(axes))
    n.expect("all", n.op("Squeeze", [feed], "SqueezeParam", {}), x.squeeze())
    one = draw(n, dtype, (1, 1))
    n.expect("to_scalar", n.op("Squeeze", [n.feed(one, "one")], "SqueezeParam", {}), one.reshape(()))


def unsqueeze(n, dtype):
    for rank in range(0, 5):
        x = draw(n, dtype, (2, 3, 1, 2)[:rank])
        feed = n.feed(x, f"x{rank}")
        for axes in ((0,), (-1,), (0, rank + 1), (0, -1)):
            y = n.op("Unsqueeze", [feed], "SqueezeParam", {"squeezeDims": list(axes)})
            n.expect(f"rank{rank}_" + "_".join(map(axis_name, axes)), y, np.expand_dims(x, axes))


def expand_dims(n, dtype):
    for rank in (0, 1, 2, 4):
        x = draw(n, dtype, (2, 3, 1, 2)[:rank])
        feed = n.feed(x, f"x{rank}")
        for axis in range(-rank - 1, rank + 1):
            fed = axis % 2 == 0
            inputs, main = ([feed, n.const(np.int32(axis))], {}) if fed else ([feed], {"axis": axis})
            y = n.op("ExpandDims", inputs, "ExpandDims", main)
            n.expect(f"rank{rank}_{axis_name(axis)}", y, np.expand_dims(x, axis))


def orders(n, rank):
    every = list(itertools.permutations(range(rank)))
    return every if len(every) <= 6 else [every[i] for i in sorted(n.random.choice(len(every), 8, replace=False))]


def permute(n, rank, kind, dtype):
    x = draw(n, dtype, (2, 3, 5, 1, 2, 3)[:rank])
    feed = n.feed(x, "x")
    for order in orders(n, rank):
        if kind == "Permute":
            y = n.op("Permute", [feed], "Permute", {"dims": list(order)})
        else:
            y = n.op("Transpose", [feed, ints(n, *order)], "Transpose", {})
        n.expect("p" + "".join(map(str, order)), y, x.transpose(order))


def reverse(n, dtype):
    for rank in range(1, 7):
        x = draw(n, dtype, (3, 2, 2, 1, 2, 2)[:rank])
        feed = n.feed(x, f"x{rank}")
        for axis in range(rank):
            n.expect(f"rank{rank}_axis{axis}", n.op("Reverse", [feed, ints(n, axis)]), np.flip(x, axis))


def reverse_sequence(n, dtype):
    for rank in range(2, 5):
        x = draw(n, dtype, (3, 4, 2, 1, 3)[:rank])
        feed = n.feed(x, f"x{rank}")
        for batch, time in ((0, 1), (1, 0), (-1, 0), (0, -1)):
            if batch % rank == time % rank:
                continue
            lengths = n.random.integers(1, x.shape[time] + 1, x.shape[batch]).astype(np.int32)
            truth = x.copy()
            for place in np.ndindex(x.shape):
                if place[time] < lengths[place[batch]]:
                    mirrored = list(place)
                    mirrored[time] = lengths[place[batch]] - 1 - place[time]
                    truth[place] = x[tuple(mirrored)]
            y = n.op("ReverseSequence", [feed, n.const(lengths)], "ReverseSequenceParam",
                     {"batchDim": batch, "seqDim": time})
            n.expect(f"rank{rank}_{axis_name(batch)}_{axis_name(time)}", y, truth)


def tile(n, rank, dtype):
    x = draw(n, dtype, (2, 1, 3, 1, 2, 2)[:rank])
    feed = n.feed(x, "x")
    for axis in range(rank):
        multiples = [3 if i == axis else 1 for i in range(rank)]
        n.expect(f"axis{axis}", n.op("Tile", [feed, ints(n, *multiples)]), np.tile(x, multiples))
    multiples = [2, 1, 2, 3, 1, 2][:rank]
    n.expect("several", n.op("Tile", [feed, ints(n, *multiples)]), np.tile(x, multiples))
    n.expect("none", n.op("Tile", [feed, ints(n, *[0] * rank)]), np.tile(x, [0] * rank))


def broadcast(n, rank, dtype):
    shape = (2, 3, 2, 1, 2, 3)[:rank]
    for axis in range(rank):
        for name, own in ((f"one_{axis}", tuple(1 if i == axis else e for i, e in enumerate(shape))),
                          (f"behind_{axis}", shape[axis + 1:])):
            x = draw(n, dtype, own)
            y = n.op("BroadcastTo", [n.feed(x), ints(n, *shape)])
            n.expect(name, y, np.broadcast_to(x, shape).copy())
    x = draw(n, dtype, shape)
    n.expect("wider", n.op("BroadcastTo", [n.feed(x), ints(n, 1)]), x)


def copied(n, kind):
    for dtype in (np.float32, np.uint8):
        for name, shape in FEW.items():
            x = draw(n, dtype, shape)
            y = n.op(kind, [n.feed(x)])
            n.expect(f"{name}_{name_of(dtype)}", y, x if kind == "Identity" else np.zeros_like(x))


for element in (np.float32, np.int8):
    for is_fed in (False, True):
        form(f"reshape__{'fed' if is_fed else 'table'}_{name_of(element)}", reshape, element, is_fed)
form("reshape__flatten_axes", flatten, np.float32)
for family, make in (("squeeze", squeeze), ("unsqueeze", unsqueeze), ("expand_dims", expand_dims)):
    for element in (np.float32, np.uint8):
        form(f"reshape__{family}_{name_of(element)}", make, element)
for of_rank in (1, 2, 3, 4, 6):
    form(f"permute__permute_rank{of_rank}", permute, of_rank, "Permute", TYPES[of_rank % 4])
    form(f"permute__transpose_rank{of_rank}", permute, of_rank, "Transpose", TYPES[(of_rank + 1) % 4])
    form(f"fill__tile_rank{of_rank}", tile, of_rank, TYPES[of_rank % 4])
    form(f"fill__broadcast_rank{of_rank}", broadcast, of_rank, TYPES[(of_rank + 2) % 4])
for element in (np.float32, np.uint8):
    form(f"permute__reverse_{name_of(element)}", reverse, element)
for element in (np.float32,):
    form(f"permute__reverse_sequence_{name_of(element)}", reverse_sequence, element)
form("source__identity_ranks", copied, "Identity")
form("fill__zeros_like_ranks", copied, "ZerosLike")
