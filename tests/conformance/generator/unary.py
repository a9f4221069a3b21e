"""Functions of one element."""
import numpy as np

from generator.net import array, cases


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
    """The converter writes the same code (GELU) for the erf form and for the tanh form: the erf form is meant."""
    x = n.x(2, 5, 9, low=-5, high=5)
    n.out("erf_form", "Gelu", x)
    half = n.op("Mul", x, n.op("Add", n.op("Erf", n.op("Div", x, np.float32(np.sqrt(2)))), np.float32(1)))
    n.out("erf_pattern", "Mul", half, np.float32(0.5))


@cases("unary__gelu_tanh", seed="gelu_tanh", opset=20, tolerance=2e-4)
def _(n):
    """The file has the same code for both forms, so the tolerance is their distance."""
    n.out("tanh_form", "Gelu", n.x(2, 5, 9, low=-5, high=5), approximate="tanh")
