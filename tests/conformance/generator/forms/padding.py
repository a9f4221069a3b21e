"""Padding: every mode with every rank and type."""
import numpy as np

from generator.forms.common import TYPES, draw, form, ints, name_of

MODES = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric", "EDGE": "edge"}
SHAPE = (2, 2, 3, 3, 2, 3)


def padded(n, name, feed, x, mode, pads):
    y = n.op("Padding", [feed, ints(n, *(p for pair in pads for p in pair))], "PadParam", {"mode": mode})
    n.expect(name, y, np.pad(x, pads, MODES[mode]))


def ranks(n, mode, rank):
    x = draw(n, TYPES[rank % 4], SHAPE[-rank:])
    feed = n.feed(x, "x")
    for axis in range(rank):
        pair = (min(2, x.shape[axis] - 1), 1)
        padded(n, f"axis{axis}", feed, x, mode, [pair if i == axis else (0, 0) for i in range(rank)])
    padded(n, "all", feed, x, mode, [(1, 0) if i % 2 else (0, 1) for i in range(rank)])
    padded(n, "none", feed, x, mode, [(0, 0)] * rank)


def values(n, dtype):
    """Other values than 0, pads that crop, an empty tensor."""
    mode = "CONSTANT"
    x = draw(n, dtype, (3, 4))
    feed = n.feed(x, "x")
    value = draw(n, dtype, ())
    y = n.op("Padding", [feed, ints(n, 1, 0, 2, 1), n.const(value)], "PadParam", {"mode": mode})
    n.expect("value", y, np.pad(x, ((1, 0), (2, 1)), constant_values=value))
    y = n.op("Padding", [feed, ints(n, -1, 0, 0, -2)], "PadParam", {"mode": mode})
    n.expect("cropped", y, x[1:, :-2])
    y = n.op("Padding", [feed, ints(n, 2, -1, -1, 3)], "PadParam", {"mode": mode})
    n.expect("cropped_and_padded", y, np.pad(x[:-1, 1:], ((2, 0), (0, 3))))
    y = n.op("Padding", [n.feed(np.zeros((0, 2), dtype), "empty"), ints(n, 1, 1, 0, 1)], "PadParam", {"mode": mode})
    n.expect("of_nothing", y, np.zeros((2, 3), dtype))


for pad_mode in MODES:
    for of_rank in (1, 2, 3, 4, 6) if pad_mode in ("CONSTANT", "REFLECT") else (2, 4, 6):
        form(f"padding__{pad_mode.lower()}_rank{of_rank}", ranks, pad_mode, of_rank)
    if pad_mode == "CONSTANT":
        for element in TYPES:
            form(f"padding__values_{name_of(element)}", values, element)
