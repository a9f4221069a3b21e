"""Transpose, Reverse and ReverseSequence."""
import numpy as np

from generator.net import array, cases
from generator.wire_net import wire_cases


@cases("permute__transpose", seed="transpose")
def _(n):
    x = n.x(2, 5, 3, 7)
    for perm in ((0, 2, 3, 1), (0, 3, 1, 2), (3, 2, 1, 0), (1, 0, 2, 3), (0, 1, 3, 2), (2, 0, 3, 1), (0, 2, 1, 3)):
        n.out("p" + "".join(map(str, perm)), "Transpose", x, perm=list(perm))
    n.out("p10", "Transpose", n.x(13, 9), perm=[1, 0])
    y = n.x(3, 4, 5)
    for perm in ((2, 1, 0), (0, 2, 1), (1, 0, 2), (1, 2, 0)):
        n.out("p" + "".join(map(str, perm)), "Transpose", y, perm=list(perm))
    z = n.x(2, 3, 2, 4, 3)
    for perm in ((0, 2, 1, 4, 3), (4, 3, 2, 1, 0), (0, 3, 1, 4, 2)):
        n.out("p" + "".join(map(str, perm)), "Transpose", z, perm=list(perm))
    n.out("default", "Transpose", y)
    n.out("int", "Transpose", n.xi(4, 3), perm=[1, 0])
    n.out("rank6", "Transpose", n.x(1, 2, 3, 2, 2, 3), perm=[0, 1, 4, 2, 5, 3])


@cases("permute__reverse_sequence", seed="reverse_sequence")
def _(n):
    x = n.x(5, 3, 2)
    lengths = n.input(np.array([2, 5, 1], np.int32), "lengths", as_type="int64")
    n.out("time0", "ReverseSequence", x, lengths, batch_axis=1, time_axis=0)
    n.out("length0", "ReverseSequence", x, array(0, 4, 1), batch_axis=1, time_axis=0)


@wire_cases("permute__rank9")
def _(n):
    """Movement of data over the largest rank that a tensor can have."""
    shape = (2, 1, 2, 3, 1, 2, 1, 2, 3)
    values = n.floats(*shape)
    x = n.feed(values, "x")

    def ints(*items):
        return n.const(np.array(items, np.int32))

    order = [8, 3, 1, 0, 7, 2, 6, 5, 4]
    n.expect("permute", n.op("Permute", [x], "Permute", {"dims": order}), values.transpose(order))
    n.expect("transpose", n.op("Transpose", [x, ints(*order[::-1])], "Transpose", {}), values.transpose(order[::-1]))
    tiles = (1, 2, 1, 1, 3, 1, 2, 1, 1)
    n.expect("tile", n.op("Tile", [x, ints(*tiles)]), np.tile(values, tiles))
    wide = (2, 3, 2, 3, 2, 2, 2, 2, 3)
    n.expect("broadcast", n.op("BroadcastTo", [x, ints(*wide)]), np.broadcast_to(values, wide).copy())
    begin, size = (0, 0, 1, 1, 0, 0, 0, 1, 0), (2, 1, 1, 2, 1, 2, 1, 1, 2)
    window = tuple(slice(b, b + s) for b, s in zip(begin, size))
    n.expect("slice", n.op("SliceTf", [x, ints(*begin), ints(*size)]), values[window].copy())
    pads = [(i % 2, (i + 1) % 3 % 2) for i in range(9)]
    padded = n.op("Padding", [x, ints(*(p for pair in pads for p in pair))], "PadParam", {"mode": "CONSTANT"})
    n.expect("pad", padded, np.pad(values, pads))
    n.expect("concat", n.op("Concat", [x, x], "Axis", {"axis": 4}), np.concatenate([values, values], 4))
    small = n.feed(n.floats(2, 3, 1, 2, 1, 2, 3, 1), "small")
    n.expect("pack", n.op("Pack", [small, small], "PackParam", {"axis": 2}), np.stack([n.inputs["small"]] * 2, 2))
    parts = n.op("Unpack", [x], "Axis", {"axis": 3}, count=3)
    for i, part in enumerate(parts):
        n.expect(f"unpack_{i}", part, values.take(i, 3))
    n.expect("gather", n.op("GatherV2", [x, ints(2, 0, 1), n.const(np.int32(3))]), values[:, :, :, [2, 0, 1]])
    n.expect("reverse", n.op("Reverse", [x, ints(3)]), np.flip(values, 3))
    n.expect("sum", n.op("Reduction", [x], "ReductionParam", {"operation": "SUM", "dim": [0, 3, 5, 8], "keepDims": True}),
             values.sum((0, 3, 5, 8), keepdims=True, dtype=np.float64).astype(np.float32))
    other = n.feed(n.floats(1, 2, 2, 1, 2, 1, 3, 2, 1), "other")
    n.expect("add", n.op("BinaryOp", [x, other], "BinaryOp", {"opType": "ADD"}), values + n.inputs["other"])
    n.expect("expand", n.op("ExpandDims", [small], "ExpandDims", {"axis": 5}), n.inputs["small"][:, :, :, :, :, None])


@wire_cases("permute__reverse_axes")
def reverse_axes(n):
    """tf.reverse: along any axes, and along none."""
    values = n.floats(2, 3, 4, 2)
    x = n.feed(values, "x")
    for axes in ((), (0,), (-1,), (0, 2), (-2, 1), (3, 2, 1, 0)):
        y = n.op("Reverse", [x, n.const(np.array(axes, np.int32))])
        n.expect("axes_" + "_".join(map(str, axes)).replace("-", "m"), y, np.flip(values, axes).copy())
