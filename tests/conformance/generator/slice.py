"""Slice with constant and with fed bounds."""
import numpy as np

from generator.net import array, cases
from generator.wire_net import wire_cases


@cases("slice__steps", seed="slice")
def _(n):
    x = n.x(2, 9, 5, 7)
    for name, parts in {
            "channels": (array(2), array(7), array(1)), "to_end": (array(1), array(2**31 - 1), array(2)),
            "negative_index": (array(-5), array(-1), array(1)), "step2": (array(0), array(9), array(1), array(2)),
            "step_m1": (array(-1), array(-100), array(3), array(-1)), "step_m3": (array(8), array(0), array(1), array(-3)),
            "two_axes": (array(1, 2), array(4, 6), array(2, 3)),
            "two_axes_steps": (array(4, 0), array(-100, 7), array(2, 3), array(-2, 3)),
            "no_axes": (array(0, 1, 2, 3), array(2, 8, 4, 5)), "batch": (array(1), array(2), array(0)),
            "reverse_batch": (array(-1), array(-10), array(0), array(-1))}.items():
        n.out(name, "Slice", x, *parts)
    n.out("rank2", "Slice", n.x(5, 6), array(1, 1), array(4, 5))
    n.out("int", "Slice", n.xi(6, 3), array(5), array(-100), array(0), array(-2))


@cases("slice__dynamic", seed="slice_dynamic")
def _(n):
    x = n.x(3, 8, 5)
    starts = n.input(np.array([1, 2], np.int32), "starts")
    ends = n.input(np.array([7, 5], np.int32), "ends")
    n.out("fed", "Slice", x, starts, ends, np.array([1, 2], np.int32))


@wire_cases("slice__crop")
def _(n):
    """Crop of Caffe: the extents of the second input, from an offset."""
    values = n.floats(2, 3, 6, 7)
    x, like = n.feed(values, "x"), n.feed(np.zeros((2, 2, 3, 4), np.float32), "like")
    n.expect("plane", n.op("Crop", [x, like], "Crop", {"axis": 2, "offset": [1, 3]}), values[:, :, 1:4, 3:])
    n.expect("one_offset", n.op("Crop", [x, like], "Crop", {"axis": 1, "offset": [1]}), values[:, 1:, 1:4, 1:5])
    n.expect("no_offset", n.op("Crop", [x, like], "Crop", {"axis": 2}), values[:, :, :3, :4])
