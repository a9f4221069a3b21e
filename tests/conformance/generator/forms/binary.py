"""BinaryOp: every code with every type, broadcast to both sides, and over ranks."""
import numpy as np

from generator.binary import COMPARISONS, FLOAT_CODES, INTEGER_CODES
from generator.forms.common import INTEGERS, TYPES, draw, form, name_of

PAIRS = {"same": ((3, 5), (3, 5)), "scalar_right": ((2, 3, 3), ()), "scalar_left": ((), (7,)),
         "one_left": ((1,), (2, 3)), "mutual": ((2, 1, 3, 1), (3, 1, 2)), "row": ((2, 2, 3), (3,)),
         "column": ((3, 1), (3, 4)), "rank6": ((1, 2, 1, 2, 1, 3), (2, 1, 3, 1, 2, 1)), "scalars": ((), ()),
         "empty": ((0, 3), (3,)), "empty_left": ((1,), (2, 0))}
# The code of a product with SiLU is for floats only; those of shifts and bits are for integers only.
FLOATS = {**FLOAT_CODES, "POW": np.power, "MUL_SILU": lambda a, b: a * b / (1 + np.exp(-b))}
WHOLE = {**INTEGER_CODES, "POW": np.power, "LEFTSHIFT": np.left_shift, "RIGHTSHIFT": np.right_shift}
DIVISIONS = ("DIV", "REALDIV", "FLOORDIV", "FLOORMOD", "MOD")


def operands(n, code, dtype, left, right):
    """Avoids zeros to divide by, powers that exceed their type, and shifts beyond the width."""
    if dtype == np.float32:
        a = draw(n, dtype, left, *((0.2, 2) if code == "POW" else (-2, 2)))
        b = draw(n, dtype, right, *((0.4, 2) if code in DIVISIONS else (-2, 2)))
        sign = np.where(draw(n, dtype, right) < 0, -1, 1) if code in DIVISIONS else 1
        return a, (b * sign).astype(dtype)
    if code in ("POW", "LEFTSHIFT", "RIGHTSHIFT"):
        return draw(n, dtype, left, 0 if dtype == np.uint8 else -5, 6), draw(n, dtype, right, 0, 4)
    if code in COMPARISONS or code.startswith("LOGICAL"):
        return draw(n, dtype, left, 0, 3), draw(n, dtype, right, 0, 3)
    a, b = draw(n, dtype, left), draw(n, dtype, right)
    return a, np.where(b == 0, dtype(3), b).astype(dtype) if code in DIVISIONS else b


def apply(n, name, code, truth, a, b):
    wide = np.float64 if a.dtype == np.float32 else np.int64
    y = n.op("BinaryOp", [n.feed(a, f"a_{name}"), n.feed(b, f"b_{name}")], "BinaryOp", {"opType": code})
    result = np.asarray(truth(a.astype(wide), b.astype(wide)))
    n.expect(name, y, result.astype(np.int32 if code in COMPARISONS else a.dtype))


def codes(n, code, truth):
    for name in ("same", "scalar_left", "mutual"):
        apply(n, name, code, truth, *operands(n, code, np.float32, *PAIRS[name]))


def integer_codes(n, code, truth):
    for dtype in INTEGERS:
        for name in ("scalar_right", "mutual"):
            apply(n, f"{name}_{name_of(dtype)}", code, truth, *operands(n, code, dtype, *PAIRS[name]))


def pairs(n, dtype):
    for name, shapes in PAIRS.items():
        apply(n, name, "SUB", np.subtract, *operands(n, "SUB", dtype, *shapes))


def ranks(n, rank, swapped, dtype):
    """Differences in which each axis of one side in turn has extent 1 or is absent."""
    shape = (2, 3, 1, 2, 1, 2)[:rank]
    for axis in range(rank):
        thin = tuple(1 if i == axis else e for i, e in enumerate(shape))
        for name, other in ((f"one_{axis}", thin), (f"behind_{axis}", shape[axis:])):
            a, b = draw(n, dtype, shape), draw(n, dtype, other)
            apply(n, name, "SUB", np.subtract, *((b, a) if swapped else (a, b)))


for float_code, float_truth in FLOATS.items():
    form(f"binary__{float_code.lower()}_float32", codes, float_code, float_truth)
for integer_code, integer_truth in WHOLE.items():
    form(f"binary__{integer_code.lower()}_integers", integer_codes, integer_code, integer_truth)
for element in (np.float32, np.uint8):
    form(f"binary__pairs_{name_of(element)}", pairs, element)
for rank_of_all in (1, 2, 3, 4, 6):
    for side, is_swapped in (("right", False), ("left", True)):
        form(f"binary__broadcast_{side}_rank{rank_of_all}", ranks, rank_of_all, is_swapped, TYPES[rank_of_all % 2])
