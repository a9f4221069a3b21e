"""Concatenation and splitting."""
import numpy as np

from generator.net import array, cases
from generator.wire_net import wire_cases


@cases("concat__axes", seed="concat")
def _(n):
    a, b, c = n.x(2, 3, 4, 5), n.x(2, 6, 4, 5), n.x(2, 1, 4, 5)
    n.out("axis1", "Concat", a, b, c, axis=1)
    n.out("axis1_constant", "Concat", a, n.floats(2, 2, 4, 5), axis=1)
    d = n.x(2, 3, 4, 2)
    n.out("axis3", "Concat", a, d, axis=3)
    n.out("axis_m1", "Concat", d, a, d, axis=-1)
    n.out("axis0", "Concat", a, a, axis=0)
    n.out("axis2", "Concat", a, n.x(2, 3, 1, 5), axis=2)
    n.out("rank1", "Concat", n.x(3), n.x(4), axis=0)
    n.out("int", "Concat", n.xi(2, 3), n.xi(2, 2), axis=1)
    n.out("single", "Concat", a, axis=1)


@cases("concat__split", seed="split")
def _(n):
    x = n.x(2, 7, 4, 6)
    n.outs(["even_0", "even_1", "even_2"], "Split", x, axis=3)
    n.outs(["odd_0", "odd_1", "odd_2"], "Split", x, np.array([1, 4, 2], np.int64), axis=1)
    n.outs(["batch_0", "batch_1"], "Split", x, np.array([1, 1], np.int64), axis=0)
    n.outs(["negative_0", "negative_1"], "Split", x, np.array([3, 1], np.int64), axis=-2)
    n.outs(["int_0", "int_1"], "Split", n.xi(5, 3), np.array([2, 3], np.int64), axis=0)
    a, b = n.op("Split", x, np.array([4, 3], np.int64), axis=1, count=2)
    n.out("shuffled", "Concat", b, a, axis=1)


@wire_cases("concat__quantized")
def _(n):
    """QuantizedConcat of equal scales joins bytes."""
    a, b = (n.random.integers(0, 256, s).astype(np.uint8) for s in ((2, 3, 4), (2, 1, 4)))
    y = n.op("QuantizedConcat", [n.feed(a, "a"), n.feed(b, "b")], "QuantizedConcat", {"axis": 1})
    n.expect("y", y, np.concatenate([a, b], 1))


@wire_cases("concat__lower_rank")
def _(n):
    """An input of lower rank has extents of 1 at its end, as in converted losses."""
    a, b = n.feed(n.floats(2, 1, 1), "a"), n.feed(n.floats(3), "b")
    n.expect("y", n.op("Concat", [a, b], "Axis", {"axis": 0}),
             np.concatenate([n.inputs["a"], n.inputs["b"].reshape(3, 1, 1)]))
