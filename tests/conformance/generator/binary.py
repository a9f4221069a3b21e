"""Arithmetic and comparison of two tensors, with every form of broadcasting."""
import numpy as np

from generator.net import array, cases
from generator.wire_net import wire_cases


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
    n.out("fmod", "Mod", n.x(4, 9, low=-9, high=9), n.floats(9, low=1, high=3), fmod=1)


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


def c_remainder(a, b):
    return np.fmod(a, b)


def logical(f):
    return lambda a, b: f(a != 0, b != 0).astype(a.dtype)


FLOAT_CODES = {
    "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "DIV": np.divide, "MAX_TEMP": np.maximum,
    "MIN_TEMP": np.minimum, "REALDIV": np.divide, "MINIMUM": np.minimum, "MAXIMUM": np.maximum,
    "GREATER": np.greater, "GREATER_EQUAL": np.greater_equal, "LESS": np.less, "FLOORDIV": lambda a, b: np.floor(a / b),
    "SquaredDifference": lambda a, b: (a - b) ** 2, "EQUAL": np.equal, "LESS_EQUAL": np.less_equal, "FLOORMOD": np.mod,
    "MOD": c_remainder, "ATAN2": np.arctan2, "LOGICALOR": logical(np.logical_or), "NOTEQUAL": np.not_equal,
    "LOGICALXOR": logical(np.logical_xor)}
# The rule of commands: FLOORMOD of integers is C's remainder.
INTEGER_CODES = {
    **FLOAT_CODES, "DIV": lambda a, b: np.trunc(a / b), "REALDIV": lambda a, b: np.trunc(a / b), "FLOORMOD": c_remainder,
    "MOD": np.mod, "BITWISE_AND": np.bitwise_and, "BITWISE_OR": np.bitwise_or, "BITWISE_XOR": np.bitwise_xor}
INTEGER_CODES.pop("ATAN2")
COMPARISONS = ("GREATER", "GREATER_EQUAL", "LESS", "EQUAL", "LESS_EQUAL", "NOTEQUAL")


def binary_code(n, a, b, code, truth, name, dtype=None):
    """truth: a function of the values in double precision or in int64, converted to the type of the result."""
    left, right = (n.inputs[n.tensors[i]] for i in (a, b))
    wide = np.float64 if np.float32 in (left.dtype, right.dtype) else np.int64
    y = n.op("BinaryOp", [a, b], "BinaryOp", {"opType": code})
    result = truth(left.astype(wide), right.astype(wide))
    n.expect(name, y, result.astype(np.int32 if code in COMPARISONS else dtype or left.dtype))


@wire_cases("binary__codes")
def _(n):
    a = n.feed(n.floats(2, 3, 5), "a")
    sign = n.random.choice([-1, 1], (3, 1)).astype(np.float32)
    b = n.feed(n.floats(3, 1, low=0.4, high=2) * sign, "b")
    for code, truth in FLOAT_CODES.items():
        binary_code(n, a, b, code, truth, code.lower())
    c = n.feed(n.floats(2, 3, 5), "c")
    binary_code(n, a, c, "MUL_SILU", lambda x, y: x * y / (1 + np.exp(-y)), "mul_silu")
    positive = n.feed(n.floats(2, 3, 5, low=0.2, high=2), "positive")
    binary_code(n, positive, b, "POW", np.power, "pow")


def integer_codes(n, dtype):
    """Integers narrower than int32 have no scale here: their arithmetic wraps as in ONNX."""
    low, high = max(np.iinfo(dtype).min, -128), min(np.iinfo(dtype).max, 255)
    right = n.random.integers(1, 128, 7) * n.random.choice([-1, 1] if low < 0 else [1], 7)
    a = n.feed(n.random.integers(low, high + 1, (3, 7)).astype(dtype), "a")
    b = n.feed(right.astype(dtype), "b")
    for code, truth in INTEGER_CODES.items():
        binary_code(n, a, b, code, truth, code.lower())
    shift = n.feed(np.array([0, 1, 2, 5, 7, 31, 40], dtype), "shift")
    binary_code(n, a, shift, "LEFTSHIFT", lambda x, y: np.where(y > 31, 0, x << np.minimum(y, 31)), "left")
    binary_code(n, a, shift, "RIGHTSHIFT", lambda x, y: x >> y, "right")
    binary_code(n, a, n.feed(np.array([0, 1, 2, 3, 2, 1, 2], dtype), "power"), "POW", np.power, "pow")


for integer in (np.int32, np.int8, np.uint8):
    wire_cases(f"binary__codes_{np.dtype(integer).name}")(lambda n, dtype=integer: integer_codes(n, dtype))


@wire_cases("binary__not_a_number")
def _(n):
    """NaN equals nothing, itself included, and is neither smaller nor larger, at every place of a vector."""
    a = n.floats(3, 37)
    a[0], a[:, ::5], a[1, ::3] = np.nan, np.nan, 0
    left, zero = n.feed(a, "a"), n.feed(np.zeros((1,), np.float32), "zero")
    for code in COMPARISONS:
        binary_code(n, left, zero, code, FLOAT_CODES[code], code.lower())
        binary_code(n, left, left, code, FLOAT_CODES[code], f"{code.lower()}_itself")


@wire_cases("binary__division_by_zero")
def _(n):
    """Divisions of integers by zero give 0; the one quotient that does not fit wraps."""
    a = n.feed(np.array([7, -7, 0, -2**31], np.int32), "a")
    zero = n.feed(np.array([0, 0, 0, -1], np.int32), "zero")
    for code in ("REALDIV", "FLOORMOD", "MOD"):
        want = [0, 0, 0, -2**31 if code == "REALDIV" else 0]
        y = n.op("BinaryOp", [a, zero], "BinaryOp", {"opType": code})
        n.expect(code.lower(), y, np.array(want, np.int32))


@wire_cases("binary__mixed_types")
def _(n):
    """A float and an integer are computed as floats; a power has the type of its base."""
    x = n.feed(n.floats(2, 5, low=0.5, high=3), "x")
    i = n.feed(n.ints(5, low=-3, high=4), "i")
    u = n.feed(n.random.integers(0, 9, (2, 1)).astype(np.uint8), "u")
    s = n.feed(n.random.integers(-9, 9, (2, 5)).astype(np.int8), "s")
    binary_code(n, x, i, "ADD", np.add, "float_add_int")
    binary_code(n, i, x, "SUB", np.subtract, "int_sub_float", np.float32)
    binary_code(n, x, u, "MUL", np.multiply, "float_mul_uint8")
    binary_code(n, x, i, "LESS", np.less, "float_less_int")
    binary_code(n, x, i, "POW", np.power, "float_pow_int")
    base = n.feed(n.ints(2, 5, low=1, high=9), "base")
    binary_code(n, base, x, "POW", lambda a, b: np.trunc(np.power(a, b)), "int_pow_float")
    small = n.feed(n.random.integers(1, 4, (2, 5)).astype(np.uint8), "small")
    binary_code(n, small, x, "POW", lambda a, b: np.trunc(np.power(a, b)), "uint8_pow_float")
    binary_code(n, u, s, "ADD", np.add, "uint8_add_int8", np.int32)
    binary_code(n, i, s, "MAXIMUM", np.maximum, "int32_max_int8", np.int32)


@wire_cases("binary__relu")
def _(n):
    a, b = n.feed(n.floats(3, 5), "a"), n.feed(n.floats(5), "b")
    y = n.op("BinaryOp", [a, b], "BinaryOp", {"opType": "SUB", "activationType": 1})
    n.expect("float", y, np.maximum(n.inputs["a"] - n.inputs["b"], 0))
    i, j = n.feed(n.ints(3, 5), "i"), n.feed(n.random.integers(-99, 99, (3, 5)).astype(np.int8), "j")
    n.expect("int32", n.op("BinaryOp", [i, i], "BinaryOp", {"opType": "ADD", "activationType": 1}),
             np.maximum(2 * n.inputs["i"], 0))
    n.expect("int8", n.op("BinaryOp", [j, j], "BinaryOp", {"opType": "ADD", "activationType": 1}),
             np.maximum(n.inputs["j"] + n.inputs["j"], np.int8(0)))


@cases("binary__mean_of_two")
def _(n):
    """The converter writes DIV."""
    n.out("y", "Mean", n.x(2, 3, 5, name="a"), n.x(3, 1, name="b"))


@cases("binary__float_mod")
def _(n):
    """Written as FLOORMOD, which has the sign of the dividend in files of ONNX and that of the divisor elsewhere."""
    a = n.input(n.floats(3, 8, low=-7, high=7), "a")
    b = n.input((n.floats(8, low=0.7, high=3) * n.random.choice([-1, 1], 8)).astype(np.float32), "b")
    n.out("fmod", "Mod", a, b, fmod=1)
    i = n.input(n.ints(3, 8, low=-40, high=41), "i")
    j = n.input((n.random.integers(1, 9, 8) * n.random.choice([-1, 1], 8)).astype(np.int32), "j")
    n.out("fmod_int", "Mod", i, j, fmod=1)
    n.out("mod_int", "Mod", i, j)


@wire_cases("binary__tensorflow_mod")
def _(n):
    """In files of TensorFlow FLOORMOD has the sign of the divisor and MOD that of the dividend, for every type."""
    n.source = "TENSORFLOW"
    for dtype in (np.float32, np.int32):
        name = np.dtype(dtype).name
        a = n.feed(n.random.integers(-20, 20, 9).astype(dtype), f"a_{name}")
        b = n.feed((n.random.integers(1, 6, 9) * n.random.choice([-1, 1], 9)).astype(dtype), f"b_{name}")
        binary_code(n, a, b, "FLOORMOD", np.mod, f"floor_mod_{name}")
        binary_code(n, a, b, "MOD", c_remainder, f"mod_{name}")


@wire_cases("binary__eltwise")
def _(n):
    """Caffe's Eltwise, with factors of a sum."""
    names = ("a", "b", "c")
    x = [n.feed(n.floats(2, 3, 4, 5), name) for name in names]
    a, b, c = (n.inputs[name].astype(np.float64) for name in names)

    def eltwise(name, kind, value, coeff=None, inputs=x):
        table = {"type": kind, **({"coeff": coeff} if coeff else {})}
        n.expect(name, n.op("Eltwise", inputs, "Eltwise", table), value.astype(np.float32))

    eltwise("prod", "PROD", a * b * c)
    eltwise("sum", "SUM", a + b + c)
    eltwise("maximum", "MAXIMUM", np.maximum(np.maximum(a, b), c))
    eltwise("sub", "SUB", a - b - c)
    eltwise("sum_two", "SUM", a + b, inputs=x[:2])
    eltwise("first", "SUM", a, [1, 0, 0])
    eltwise("ones", "SUM", a + b + c, [1, 1, 1])
    eltwise("factors", "SUM", 0.5 * a - 2 * b + c, [0.5, -2, 1])
    eltwise("one_factor", "SUM", -1.5 * b, [0, -1.5, 0])
    eltwise("none", "SUM", 0 * a, [0, 0, 0])


@cases("binary__static_model", flags=["--saveStaticModel"])
def _(n):
    """Rasters and loops of static models spread the operands, and describe those of a comparison by the type of its result."""
    a, b = n.x(2, 1, 3, 1), n.x(3, 1, 2)
    for kind in ("Less", "Greater", "GreaterOrEqual"):
        n.out(kind.lower(), kind, a, b)
    n.out("sum", "Add", a, b)
    x, y = n.x(3, 8), n.x(8)
    n.out("fmod", "Mod", x, y, fmod=1, truth=np.fmod(n.data[x], n.data[y]))
    n.out("compare_channel", "Less", n.x(2, 7, 5), n.floats(7, 1))


@wire_cases("binary__static_model_extents")
def _(n):
    """Operands of a static model may have other extents than the result, of as many elements."""
    a, b = n.floats(2, 6, 1), n.floats(2, 2, 3)
    x, y = n.feed(a, "a"), n.feed(b, "b")
    n.describe(x, a.shape)
    n.describe(y, b.shape)
    product = n.op("BinaryOp", [x, y], "BinaryOp", {"opType": "MUL"})
    n.describe(product, (2, 6, 1))
    n.expect("product", product, a.astype(np.float64) * b.reshape(a.shape))
    column, row = n.op("Raster", [x]), n.op("Raster", [x])
    n.describe(column, (2, 1), [((0, 0, 0, 1), (0, 0, 0, 1), (1, 1, 2))])
    n.describe(row, (1, 2), [((0, 0, 0, 1), (0, 0, 0, 1), (1, 1, 2))])
    pair = n.op("BinaryOp", [column, row], "BinaryOp", {"opType": "SUB"})
    n.describe(pair, (2, 1))
    n.expect("none", pair, np.zeros((2, 1), np.float32))
