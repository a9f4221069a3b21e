"""UnaryOp: every code over ranks and types, and the operators of old files that are one function."""
import numpy as np

from generator.forms.common import INTEGERS, draw, form, name_of
from generator.unary import UNARY_CODES, UNARY_TRUTH

ERRORS = ("ERF", "ERFC", "ERFINV", "GELU", "GELU_STANDARD")  # of one element at a time
LIMITS = {**dict.fromkeys(("SQRT", "RSQRT", "LOG", "RECIPROCAL", "LOG1P"), (0.1, 4)), "ACOSH": (1.1, 5),
          **dict.fromkeys(("ASIN", "ACOS", "ATANH", "TAN", "ERFINV"), (-0.95, 0.95))}
TRUTH = {**UNARY_TRUTH, "GELU": UNARY_TRUTH["GELU_STANDARD"]}
TRUTH.update({code: lambda x, known=TRUTH[code]: known(x) if x.size else x for code in ERRORS})
OWN_TYPES = {"Sigmoid": "SIGMOID", "TanH": "TANH", "AbsVal": "ABS", "Bnll": "BNLL", "Exp": "EXP", "Log": "LOG"}


def function(n, kind, code):
    low, high = LIMITS.get(code, (-3, 3))
    for name, shape in (("rank0", ()), ("rank1", (35,)), ("rank5", (2, 1, 3, 1, 2)), ("empty", (2, 0))):
        x = draw(n, np.float32, shape, low, high)
        y = n.op(kind, [n.feed(x, f"x_{name}")], *(("UnaryOp", {"opType": code}) if kind == "UnaryOp" else ()))
        n.expect(name, y, np.asarray(TRUTH[code](x.astype(np.float64))))


def integers(n, code):
    for dtype in INTEGERS:
        for name, shape in (("rank1", (35,)), ("rank4", (2, 3, 1, 2))):
            x = draw(n, dtype, shape)
            y = n.op("UnaryOp", [n.feed(x, f"{name}_{name_of(dtype)}_x")], "UnaryOp", {"opType": code})
            with np.errstate(over="ignore"):
                n.expect(f"{name}_{name_of(dtype)}", y, np.asarray(TRUTH[code](x)).astype(dtype))


for unary_code in [*UNARY_CODES, "GELU"]:
    form(f"unary__{unary_code.lower()}_ranks", function, "UnaryOp", unary_code)
for unary_code in ("ABS", "NEG", "SQUARE", "SIGN", "FLOOR", "CEIL", "ROUND"):
    form(f"unary__{unary_code.lower()}_integers", integers, unary_code)
for own, own_code in OWN_TYPES.items():
    form(f"unary__type_{own.lower()}_ranks", function, own, own_code)
