"""Arithmetic and comparison of two tensors, with every form of broadcasting."""
import numpy as np

from generator.net import array, cases


BROADCASTS = {"same": ((2, 5, 3, 5), (2, 5, 3, 5)), "channel": ((2, 5, 3, 7), (5, 1, 1)),
              "scalar": ((2, 5, 3, 7), ()), "row": ((2, 5, 3, 7), (7,)), "plane": ((2, 5, 3, 7), (3, 7)),
              "batch": ((2, 5, 3, 7), (2, 1, 1, 1)), "mutual": ((2, 1, 3, 1), (5, 1, 7)), "column": ((4, 9), (4, 1)),
              "rank3_1": ((3, 1, 6), (1, 5, 1)), "rank5": ((2, 3, 1, 2, 3), (3, 2, 1, 3)),
              "scalar_left": ((), (3, 5)), "one_left": ((1,), (2, 3, 4)), "middle": ((2, 17, 3, 2), (1, 17, 1, 2))}


def binary(n, kinds, make):
    for shapes, (a, b) in BROADCASTS.items():
        if shapes.startswith(("batch", "rank5", "one_left", "middle")) and len(kinds) > 2:
            continue
        left, right = n.input(make(*a), f"a_{shapes}"), n.input(make(*b), f"b_{shapes}")
        for kind in kinds:
            n.out(f"{kind.lower()}_{shapes}", kind, left, right)


@cases("binary__add_mul", seed="binary_add_mul")
def _(n):
    binary(n, ["Add", "Mul"], n.floats)


@cases("binary__sub_div", seed="binary_sub_div")
def _(n):
    sign = lambda *s: (n.floats(*s, low=0.4, high=2) * n.random.choice([-1, 1], s)).astype(np.float32)
    binary(n, ["Sub", "Div"], sign)


@cases("binary__pow_min_max", seed="binary_pow_min_max")
def _(n):
    binary(n, ["Pow", "Min", "Max"], lambda *s: n.floats(*s, low=0.3, high=2.5))


@cases("binary__compare", seed="binary_compare")
def _(n):
    binary(n, ["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"],
           lambda *s: n.random.integers(-2, 3, s).astype(np.float32))


@cases("binary__int_arithmetic", seed="binary_int_arithmetic")
def _(n):
    nonzero = lambda *s: (n.random.integers(1, 9, s) * n.random.choice([-1, 1], s)).astype(np.int32)
    binary(n, ["Add", "Sub", "Mul"], nonzero)


@cases("binary__int_compare", seed="binary_int_compare")
def _(n):
    binary(n, ["Equal", "Less", "Greater"], lambda *s: n.ints(*s, low=-2, high=3))


@cases("binary__int_divide", seed="binary_int_divide")
def _(n):
    a = n.input(n.ints(4, 9, low=-40, high=41), "a")
    b = n.input((n.random.integers(1, 9, (4, 9)) * n.random.choice([-1, 1], (4, 9))).astype(np.int32), "b")
    n.out("div", "Div", a, b)
    n.out("div_constant", "Div", a, np.array(4, np.int32))
    n.out("mod", "Mod", a, b)
    n.out("min", "Min", a, b)
    n.out("max", "Max", a, b)
    n.out("fmod", "Mod", n.x(4, 9, low=-9, high=9), n.floats(9, low=1, high=3), fmod=1, official=True)


@cases("binary__logical", seed="binary_logical")
def _(n):
    a = n.op("Greater", n.x(3, 1, 7, name="a"), np.float32(0))
    b = n.op("Less", n.x(5, 7, name="b"), np.float32(0.3))
    for kind in ("And", "Or", "Xor"):
        n.out(kind.lower(), kind, a, b)
    n.out("not", "Not", a)


@cases("binary__constant", seed="binary_constant")
def _(n):
    x = n.x(2, 6, 3, 5)
    n.out("add_channel", "Add", x, n.floats(1, 6, 1, 1))
    n.out("mul_channel", "Mul", x, n.floats(6, 1, 1))
    n.out("sub_from_one", "Sub", np.float32(1), x)
    n.out("div_by_row", "Div", x, n.floats(5, low=1, high=2))
    n.out("div_into", "Div", np.float32(2), n.op("Add", n.op("Abs", x), np.float32(0.5)))
    n.out("pow2", "Pow", x, np.float32(2))
    n.out("pow3", "Pow", x, np.float32(3))
    n.out("pow_half", "Pow", n.op("Abs", x), np.float32(0.5))
    n.out("max_zero", "Max", x, np.float32(0))
    y, z = n.x(2, 6, 3, 5), n.x(2, 6, 3, 5)
    n.out("sum3", "Sum", x, y, z)
    n.out("mean3", "Mean", x, y, z)
    n.out("max3", "Max", x, y, z)


@cases("binary__long", seed="binary_long")
def _(n):
    a, b = n.x(1, 1001, name="a"), n.x(1, 1001, name="b")
    n.out("add_relu", "Relu", n.op("Add", a, b))
    n.out("squared_difference", "Mul", n.op("Sub", a, b), n.op("Sub", a, b))
