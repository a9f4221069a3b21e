"""Functions of one element."""
import math

import numpy as np

from generator.net import array, cases
from generator.wire_net import wire_cases


def unary(n, x, kinds):
    for kind in kinds:
        n.out(kind.lower(), kind, x)


@cases("unary__any", seed="unary_any")
def _(n):
    x = n.x(2, 5, 3, 7, low=-4, high=4)
    unary(n, x, ["Abs", "Neg", "Floor", "Ceil", "Exp", "Sin", "Cos", "Atan", "Sinh", "Cosh", "Asinh", "Sign", "Round",
                 "Erf", "Sigmoid", "Tanh", "Softplus", "Softsign", "Relu", "HardSwish", "HardSigmoid", "Elu", "Selu",
                 "LeakyRelu", "Identity"])


@cases("unary__limited", seed="unary_limited")
def _(n):
    p = n.x(3, 37, low=0.05, high=9)
    unary(n, p, ["Sqrt", "Log", "Reciprocal"])
    n.out("rsqrt", "Reciprocal", n.op("Sqrt", p))
    n.out("acosh", "Acosh", n.op("Add", p, np.float32(1)))
    u = n.x(3, 37, low=-0.95, high=0.95)
    unary(n, u, ["Asin", "Acos", "Atanh", "Tan"])
    n.out("square", "Mul", u, u)
    n.out("silu", "Mul", u, n.op("Sigmoid", u))


@cases("unary__large_values", seed="unary_large_values")
def _(n):
    x = n.x(1, 41, low=-30, high=30)
    unary(n, x, ["Sigmoid", "Tanh", "Erf", "HardSwish", "Softsign", "Elu", "Selu", "Softplus"])
    n.out("exp_small", "Exp", n.op("Mul", x, np.float32(0.5)))
    n.out("silu", "Mul", x, n.op("Sigmoid", x))


@cases("unary__scalar", seed="unary_scalar")
def _(n):
    x = n.input(np.array(1.25, np.float32))
    unary(n, x, ["Exp", "Tanh", "Neg"])
    y = n.x(1)
    n.out("sqrt_of_square", "Sqrt", n.op("Mul", y, y))


@cases("unary__int", seed="unary_int")
def _(n):
    x = n.xi(3, 7)
    unary(n, x, ["Abs", "Neg", "Sign"])


@cases("unary__int_relu", seed="unary_int_relu")
def _(n):
    n.out("relu", "Relu", n.xi(3, 7))


@cases("unary__gelu", seed="gelu", opset=20)
def _(n):
    """The converter writes the same code (GELU) for the erf form and for the tanh form; it means the erf form."""
    x = n.x(2, 5, 9, low=-5, high=5)
    n.out("erf_form", "Gelu", x)
    half = n.op("Mul", x, n.op("Add", n.op("Erf", n.op("Div", x, np.float32(np.sqrt(2)))), np.float32(1)))
    n.out("erf_pattern", "Mul", half, np.float32(0.5))


@cases("unary__gelu_tanh", seed="gelu_tanh", opset=20, tolerance=2e-4)
def _(n):
    """The file has the same code for both forms, so the tolerance is their distance."""
    n.out("tanh_form", "Gelu", n.x(2, 5, 9, low=-5, high=5), approximate="tanh")


UNARY_CODES = ["ABS", "NEG", "FLOOR", "CEIL", "SQUARE", "SQRT", "RSQRT", "EXP", "LOG", "SIN", "COS", "TAN", "ASIN", "ACOS",
               "ATAN", "RECIPROCAL", "LOG1P", "BNLL", "ACOSH", "SINH", "ASINH", "ATANH", "SIGN", "ROUND", "COSH", "ERF",
               "ERFC", "ERFINV", "EXPM1", "SIGMOID", "TANH", "HARDSWISH", "GELU_STANDARD", "SILU"]


def inverse_erf(y):
    """Newton's method on erf in double precision."""
    x = np.zeros_like(y)
    for _ in range(60):
        x -= (erf(x) - y) * np.sqrt(np.pi) / 2 * np.exp(x * x)
    return x


erf = np.vectorize(math.erf)
UNARY_TRUTH = {
    "ABS": np.abs, "NEG": np.negative, "FLOOR": np.floor, "CEIL": np.ceil, "SQUARE": np.square, "SQRT": np.sqrt,
    "RSQRT": lambda x: 1 / np.sqrt(x), "EXP": np.exp, "LOG": np.log, "SIN": np.sin, "COS": np.cos, "TAN": np.tan,
    "ASIN": np.arcsin, "ACOS": np.arccos, "ATAN": np.arctan, "RECIPROCAL": lambda x: 1 / x, "LOG1P": np.log1p,
    "BNLL": lambda x: np.logaddexp(0, x), "ACOSH": np.arccosh, "SINH": np.sinh, "ASINH": np.arcsinh,
    "ATANH": np.arctanh, "SIGN": np.sign, "ROUND": np.round, "COSH": np.cosh, "ERF": erf,
    "ERFC": np.vectorize(math.erfc), "ERFINV": inverse_erf, "EXPM1": np.expm1, "SIGMOID": lambda x: 1 / (1 + np.exp(-x)),
    "TANH": np.tanh, "HARDSWISH": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "GELU_STANDARD": lambda x: x / 2 * (1 + erf(x / np.sqrt(2))), "SILU": lambda x: x / (1 + np.exp(-x))}


def unary_code(n, x, code, name=None):
    values = n.inputs[n.tensors[x]]
    y = n.op("UnaryOp", [x], "UnaryOp", {"opType": code})
    whole = values.dtype != np.float32
    with np.errstate(over="ignore"):
        truth = UNARY_TRUTH[code](values if whole else values.astype(np.float64))
    n.expect(name or code.lower(), y, truth.astype(values.dtype))


@wire_cases("unary__codes")
def _(n):
    """Every code: sizes that are no multiple of a vector, and values on both sides of zero where the function has them."""
    any_value = n.feed(n.floats(2, 3, 5, low=-3, high=3), "any")
    positive = n.feed(n.floats(37, low=0.1, high=4), "positive")
    unit = n.feed(n.floats(3, 11, low=-0.95, high=0.95), "unit")
    above = n.feed(n.floats(1, 7, 1, low=1.1, high=5), "above_one")
    limits = {"SQRT": positive, "RSQRT": positive, "LOG": positive, "RECIPROCAL": positive, "LOG1P": positive,
              "ASIN": unit, "ACOS": unit, "ATANH": unit, "TAN": unit, "ERFINV": unit, "ACOSH": above}
    for code in UNARY_CODES:
        unary_code(n, limits.get(code, any_value), code)


@wire_cases("unary__round_half")
def _(n):
    """Half a unit is rounded to the even neighbour, as in ONNX, TensorFlow and PyTorch."""
    x = n.feed(np.arange(-4.5, 5, 0.5).astype(np.float32), "x")
    unary_code(n, x, "ROUND")


@wire_cases("unary__integers")
def _(n):
    for dtype in (np.int32, np.int8, np.uint8):
        info = np.iinfo(dtype)
        values = np.concatenate([n.random.integers(max(info.min, -99), 99, 15), [info.min, info.max, 0, 1]])
        x = n.feed(values.astype(dtype), np.dtype(dtype).name)
        for code in ("ABS", "NEG", "SQUARE", "SIGN", "FLOOR", "CEIL", "ROUND"):
            unary_code(n, x, code, f"{code.lower()}_{np.dtype(dtype).name}")


@wire_cases("unary__own_types")
def _(n):
    """The operators of old files that are one function, also with rank 0 and without elements."""
    x = n.feed(n.floats(2, 3, 3, low=-2, high=2), "x")
    p = n.feed(n.floats(9, low=0.2, high=3), "p")
    for kind, code, source in (("Sigmoid", "SIGMOID", x), ("TanH", "TANH", x), ("AbsVal", "ABS", x), ("Bnll", "BNLL", x),
                               ("Exp", "EXP", x), ("Log", "LOG", p)):
        values = n.inputs[n.tensors[source]].astype(np.float64)
        n.expect(kind.lower(), n.op(kind, [source]), UNARY_TRUTH[code](values).astype(np.float32))
    threshold = n.op("Threshold", [x], "ELU", {"alpha": 0.5})
    n.expect("threshold", threshold, (n.inputs["x"] > 0.5).astype(np.float32))
    scalar = n.feed(np.float32(0.75), "scalar")
    unary_code(n, scalar, "EXP", "exp_scalar")
    unary_code(n, n.feed(np.zeros((0, 3), np.float32), "nothing"), "EXP", "exp_nothing")
