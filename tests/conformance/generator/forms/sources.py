"""Range, Fill, OneHot, LinSpace, Const, and the questions Shape, Size, Rank."""
import numpy as np

from generator.forms.common import FEW, RANKED, SHAPES, TYPES, axis_name, draw, form, ints, name_of


def value_range(n, dtype):
    for name, (start, limit, delta) in {"up": (1, 9, 2), "down": (5, -4, -3), "one": (3, 4, 5), "none": (3, 3, 1),
                                        "wrong_way": (1, 5, -1), "negative": (-7, -1, 2)}.items():
        inputs = [n.feed(dtype(v), f"{name}_{i}") for i, v in enumerate((start, limit, delta))]
        n.expect(name, n.op("Range", inputs, "Range", {}), np.arange(start, limit, delta).astype(dtype))
    if dtype == np.float32:
        inputs = [n.const(dtype(v)) for v in (0.5, 2.25, 0.25)]
        n.expect("quarters", n.op("Range", inputs, "Range", {}), np.arange(0.5, 2.25, 0.25).astype(dtype))


def fill(n, dtype):
    for name, shape in RANKED.items():
        if shape:
            value = draw(n, dtype, ())
            n.expect(name, n.op("Fill", [ints(n, *shape), n.feed(value, f"v_{name}")]), np.full(shape, value, dtype))
    value = n.const(draw(n, dtype, ()))
    n.expect("empty", n.op("Fill", [ints(n, 2, 0), value]), np.zeros((2, 0), dtype))


def one_hot(n, rank, dtype):
    index = n.random.integers(0, 4, (2, 3, 2, 1, 2)[:rank]).astype(np.int32)
    feed = n.feed(index, "index")
    on, off = draw(n, dtype, ()), draw(n, dtype, ())
    values = [n.const(np.int32(4)), n.const(on), n.const(off)]
    for axis in range(-1, rank + 1):
        hot = np.moveaxis(index[..., None] == np.arange(4), -1, axis)
        y = n.op("OneHot", [feed, *values], "OneHotParam", {"axis": axis})
        n.expect(axis_name(axis), y, np.where(hot, on, off))


def lin_space(n):
    for count in (1, 2, 3, 16, 17):
        low, high = n.floats(), n.floats()
        y = n.op("LinSpace", [n.feed(low), n.feed(high), n.const(np.int32(count))])
        n.expect(f"count_{count}", y, np.linspace(np.float64(low), np.float64(high), count))


def constants(n, dtype):
    for name, shape in FEW.items():
        value = draw(n, dtype, shape)
        n.expect(name, n.op("Identity", [n.const(value)]), value)


def question(n, kind, truth):
    for i, (name, shape) in enumerate(SHAPES.items()):
        y = n.op(kind, [n.feed(draw(n, TYPES[i % 4], shape))])
        n.expect(name, y, np.asarray(truth(shape)).astype(np.int32))


def shape_part(n):
    """start and end as in ONNX: negative ones count from the end, all are clamped."""
    shape = (2, 5, 3, 1, 4)
    x = n.feed(draw(n, np.float32, shape), "x")
    for start in (None, 1, -2, 7):
        for end in (None, 3, -1, 9):
            main = {**({"hasStart": True, "start": start} if start is not None else {}),
                    **({"hasEnd": True, "end": end} if end is not None else {})}
            y = n.op("Shape", [x], "ShapeParam", main)
            n.expect(f"from_{start}_to_{end}".replace("-", "m"), y, np.array(shape[start:end], np.int32))


for element in (np.float32, np.int32):
    form(f"fill__range_{name_of(element)}", value_range, element)
for element in (np.float32, np.uint8):
    form(f"fill__fill_{name_of(element)}", fill, element)
    form(f"source__constant_{name_of(element)}", constants, element)
for of_rank in range(0, 5):
    form(f"fill__one_hot_rank{of_rank}", one_hot, of_rank, (np.float32, np.int32)[of_rank % 2])
form("fill__lin_space_counts", lin_space)
form("shape_query__shape_ranks", question, "Shape", lambda shape: np.array(shape, np.int32))
form("shape_query__size_ranks", question, "Size", lambda shape: int(np.prod(shape)))
form("shape_query__rank_ranks", question, "Rank", len)
form("shape_query__shape_parts", shape_part)
