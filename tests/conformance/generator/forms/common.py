"""Code that the systematic cases share: shapes of every rank, values of every type."""
import numpy as np

from generator.wire_net import wire_cases

TYPES = (np.float32, np.int32, np.int8, np.uint8)
RANKED = {"rank0": (), "rank1": (5,), "rank2": (3, 7), "rank3": (2, 3, 5), "rank4": (2, 5, 3, 2),
          "rank5": (2, 1, 3, 2, 3), "rank6": (1, 2, 3, 1, 2, 3)}
SHAPES = {**RANKED, "one": (1, 1), "empty": (0, 3), "empty_inside": (2, 0, 2)}
FEW = {"rank0": (), "rank1": (35,), "rank3": (2, 3, 5), "rank6": (1, 2, 3, 1, 2, 3), "empty": (2, 0)}
INTEGERS = (np.int32, np.int8, np.uint8)


def name_of(dtype):
    return np.dtype(dtype).name


def draw(n, dtype, shape, low=None, high=None):
    """Draws values of a type: floats of [-2, 2), integers of [-99, 100) or [0, 200), unless other limits are given."""
    if dtype == np.float32:
        return n.floats(*shape, low=-2 if low is None else low, high=2 if high is None else high)
    start, end = (0, 200) if dtype == np.uint8 else (-99, 100)
    return n.random.integers(start if low is None else low, end if high is None else high, shape).astype(dtype)


def wide(values):
    """Returns the values in the type in which expected values are computed."""
    return values.astype(np.float64 if values.dtype == np.float32 else np.int64)


def ints(n, *items):
    """A constant list of integers."""
    return n.const(np.array(items, np.int32))


def axis_name(axis):
    return f"axis{axis}".replace("-", "m")


def form(name, build, *arguments, tolerance=1e-5, seed=None):
    """Registers the case that build(n, *arguments) makes."""
    wire_cases(name, tolerance, seed)(lambda n: build(n, *arguments))
