"""SliceTf, StridedSlice, Crop, DepthToSpace and the like."""
import numpy as np

from generator.forms.common import TYPES, axis_name, draw, form, ints, name_of
from generator.space import space_to_batch

SHAPE = (3, 5, 4, 2, 3, 2)


def slice_tf(n, rank, dtype):
    x = draw(n, dtype, SHAPE[:rank])
    feed = n.feed(x, "x")

    def window(name, begin, size):
        cut = tuple(slice(b, b + s if s >= 0 else None) for b, s in zip(begin, size))
        n.expect(name, n.op("SliceTf", [feed, ints(n, *begin), ints(n, *size)]), x[cut].copy())

    for axis in range(rank):
        window(f"axis{axis}", [1 if i == axis else 0 for i in range(rank)], [1 if i == axis else -1 for i in range(rank)])
        window(f"none{axis}", [0] * rank, [0 if i == axis else -1 for i in range(rank)])
    window("last", [e - 1 for e in x.shape], [1] * rank)
    window("whole", [0] * rank, [-1] * rank)


MASKS = ("beginMask", "endMask", "ellipsisMask", "newAxisMask", "shrinkAxisMask")


def strided(n, name, feed, x, items):
    """items: as in NumPy's indexing, in the form of TensorFlow: lists of begin, end, stride, and masks."""
    begin, end, stride, masks = [], [], [], dict.fromkeys(MASKS, 0)
    for i, item in enumerate(items):
        b, e, s = 0, 0, 1
        if item is Ellipsis:
            masks["ellipsisMask"] |= 1 << i
        elif item is None:
            masks["newAxisMask"] |= 1 << i
        elif isinstance(item, int):
            masks["shrinkAxisMask"] |= 1 << i
            b, e = item, item + 1
        else:
            s = 1 if item.step is None else item.step
            b, e = item.start or 0, item.stop or 0
            masks["beginMask"] |= (item.start is None) << i
            masks["endMask"] |= (item.stop is None) << i
        begin.append(b), end.append(e), stride.append(s)
    y = n.op("StridedSlice", [feed, ints(n, *begin), ints(n, *end), ints(n, *stride)], "StridedSliceParam",
             {k: v for k, v in masks.items() if v})
    n.expect(name, y, np.ascontiguousarray(x[tuple(items)]).reshape(x[tuple(items)].shape))


STRIDED = {
    "begin_end": [[slice(1, 3)], [slice(0, 2), slice(1, 4)], [slice(0, 3), slice(0, 5), slice(2, 4)]],
    "strides": [[slice(0, 3, 2)], [slice(0, 3), slice(0, 5, 3)], [slice(0, 3, 2), slice(1, 5, 2), slice(0, 4, 3)]],
    "begin_mask": [[slice(None, 2)], [slice(1, 3), slice(None, 3)], [slice(None, 1), slice(None, 5, 2)]],
    "end_mask": [[slice(1, None)], [slice(2, None), slice(1, None, 2)]],
    "both_masks": [[slice(None)], [slice(None), slice(None, None, 2)], [slice(1, 2), slice(None), slice(None, None, 3)]],
    "shrink": [[1], [0, 4], [slice(None), 2], [-1], [2, slice(1, 4), -2]],
    "new_axis": [[None], [slice(None), None], [None, slice(1, 3), None], [slice(0, 2), None, 1]],
    "ellipsis": [[Ellipsis], [Ellipsis, slice(1, 3)], [slice(1, 3), Ellipsis], [1, Ellipsis, slice(0, 2)], [Ellipsis, -1]],
    "negative_index": [[slice(-2, None)], [slice(None, -1), slice(-4, -1)], [slice(-3, 3), slice(-5, -2, 2)]],
    "negative_stride": [[slice(None, None, -1)], [slice(None), slice(None, None, -2)],
                        [slice(2, 0, -1), slice(4, None, -3)], [slice(None, None, -1), slice(None, None, -1)]],
    "mixed": [[None, 1, slice(None, None, -1)], [slice(None, None, 2), None, 0, slice(1, 3)], [2, None, Ellipsis]],
    "to_end_and_past": [[slice(1, 99)], [slice(0, 3), slice(2, 50, 2)]],
    "nothing": [[slice(2, 2)], [slice(None), slice(3, 1)], [slice(2, 2, 2)], [slice(None), slice(4, 1, 2)],
                [slice(1, 1, -1)], [slice(None), slice(3, 3, -2)], [slice(0, 2, -1)]],
    "clamped": [[slice(-13, 2)], [slice(2, -2, -1)], [slice(None), slice(-99, 3, 2)], [slice(99, -99, -1)],
                [slice(2, -99, -2), slice(4, -3, -1)]],
    "ellipsis_new_axis": [[Ellipsis, None], [None, Ellipsis], [slice(1, 2), Ellipsis, None, slice(0, 2)],
                          [None, 1, Ellipsis, None, slice(1, None)]],
}


def strided_slice(n, variants):
    for k, shape in enumerate(((3, 5, 4), (3, 5, 4, 1, 2, 2))):
        x = draw(n, TYPES[k], shape)
        feed = n.feed(x, f"x{k}")
        for i, items in enumerate(variants):
            strided(n, f"rank{len(shape)}_{i}", feed, x, items)


def onnx_slice(n, rank, dtype):
    """starts, ends, axes, steps; indices from either end, clamped."""
    n.source = "ONNX"
    x = draw(n, dtype, (4, 3, 1, 2, 2, 3)[:rank])
    feed = n.feed(x, "x")
    for axis in sorted({-1, -rank}):
        extent = x.shape[axis]
        for name, b, e, s in (("middle", 1, -1, 1), ("step2", 0, extent, 2), ("from_end", -2, extent, 1),
                              ("past", 0, 10 * extent, 1), ("reversed", -1, -extent - 1, -1), ("back2", extent - 1, 0, -2),
                              ("before", -extent - 3, 2, 1), ("none2", 1, 1, 2), ("none_back2", 1, 1, -2)):
            inputs = [feed, ints(n, b), ints(n, e), ints(n, axis), ints(n, s)]
            y = n.op("StridedSlice", inputs, "StridedSliceParam", {"fromType": 1})
            stop = None if name == "reversed" else e
            window = [slice(None)] * rank
            window[axis] = slice(b, stop, s)
            n.expect(f"{name}_{axis_name(axis)}", y, x[tuple(window)].copy())


for of_rank in range(1, 7):
    form(f"slice__window_rank{of_rank}", slice_tf, of_rank, TYPES[of_rank % 4])
    if of_rank != 5:
        form(f"slice__onnx_rank{of_rank}", onnx_slice, of_rank, TYPES[(of_rank + 1) % 4])
for variant, all_items in STRIDED.items():
    form(f"slice__strided_{variant}", strided_slice, all_items)


def crop(n):
    x = draw(n, np.float32, (2, 3, 6, 7))
    feed = n.feed(x, "x")
    for name, shape, axis, offset in (("plane", (1, 1, 4, 5), 2, [1, 2]), ("width", (1, 1, 1, 3), 3, [4]),
                                      ("channels", (1, 2, 3, 3), 1, [1, 0, 3]), ("batch", (1, 3, 6, 7), 0, [1, 0, 0, 0]),
                                      ("whole", (2, 3, 6, 7), 2, [0])):
        y = n.op("Crop", [feed, n.feed(np.zeros(shape, np.float32))], "Crop", {"axis": axis, "offset": offset})
        window = [slice(None)] * axis + [slice(o, o + e) for o, e in zip(offset * (1 if len(offset) > 1 else 4 - axis),
                                                                         shape[axis:])]
        n.expect(name, y, x[tuple(window)].copy())


def depth_to_space(n, mode, dtype):
    for block in (1, 2, 3):
        x = draw(n, dtype, (2, 2 * block * block, 2, 3))
        small = (2, block, block, 2, 2, 3) if mode == "DCR" else (2, 2, block, block, 2, 3)
        order = (0, 3, 4, 1, 5, 2) if mode == "DCR" else (0, 1, 4, 2, 5, 3)
        y = n.op("DepthToSpace", [n.feed(x)], "DepthSpaceParam", {"blockSize": block, "mode": mode})
        n.expect(f"block{block}", y, x.reshape(small).transpose(order).reshape(2, 2, 2 * block, 3 * block))


def space_to_depth(n, dtype):
    for block in (1, 2, 3):
        x = draw(n, dtype, (2, 3, 2 * block, 3 * block))
        split = x.reshape(2, 3, 2, block, 3, block).transpose(0, 3, 5, 1, 2, 4)
        y = n.op("SpaceToDepth", [n.feed(x)], "DepthSpaceParam", {"blockSize": block})
        n.expect(f"block{block}", y, split.reshape(2, 3 * block * block, 2, 3))


def batches(n, dtype):
    for name, block, pads in (("one", (1, 1), ((0, 0), (0, 0))), ("rows", (2, 1), ((0, 0), (0, 0))),
                              ("columns", (1, 3), ((0, 0), (2, 1))), ("both", (2, 3), ((1, 1), (1, 2)))):
        x = draw(n, dtype, (2, 3, 4, 6 if name != "columns" else 3))
        lists = [ints(n, *block), n.const(np.array(pads, np.int32))]
        there = n.op("SpaceToBatchND", [n.feed(x), *lists])
        back = n.op("BatchToSpaceND", [there, *lists])
        n.expect(f"{name}_there", there, space_to_batch(x, block, pads))
        n.expect(f"{name}_back", back, x)


form("slice__crop_axes", crop)
for element in (np.float32, np.uint8):
    form(f"space__to_batch_{name_of(element)}", batches, element)
    form(f"space__to_depth_{name_of(element)}", space_to_depth, element)
    for depth_mode in ("DCR", "CRD"):
        form(f"space__from_depth_{depth_mode.lower()}_{name_of(element)}", depth_to_space, depth_mode, element)
