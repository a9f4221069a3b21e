"""Cast and CastLike between all element types that a file can name."""
import numpy as np

from generator.wire_net import wire_cases

TARGETS = {"DT_FLOAT": np.float32, "DT_INT32": np.int32, "DT_INT8": np.int8, "DT_UINT8": np.uint8}


def cast(n, source, target):
    return n.op("Cast", [source], "CastParam", {"dstT": target})


@wire_cases("cast__types")
def _(n):
    """Every pair of types; integers wrap, fractions are cut off, and every value except zero is true."""
    sources = {"float32": np.array([0, -0.0, 1.9, -1.9, 127, -128.7, 3e-9], np.float32),
               "int32": np.array([0, 1, -1, 130, -200, 70000, 2**31 - 1], np.int32),
               "int8": np.array([0, 1, -1, 127, -128, 5, -100], np.int8),
               "uint8": np.array([0, 1, 255, 127, 128, 5, 100], np.uint8)}
    for name, values in sources.items():
        x = n.feed(values, name)
        for target, dtype in TARGETS.items():
            whole = values.astype(np.int64) if np.issubdtype(dtype, np.integer) else values
            n.expect(f"{name}_to_{target[3:].lower()}", cast(n, x, target), whole.astype(dtype))
        n.expect(f"{name}_to_bool", cast(n, x, "DT_BOOL"), (values != 0).astype(np.int32))
        # Types of two bytes have no inputs and outputs in this test: they are read back.
        if name != "float32":
            for target, dtype in (("DT_INT16", np.int16), ("DT_UINT16", np.uint16)):
                there = cast(n, x, target)
                n.expect(f"{name}_to_{target[3:].lower()}", cast(n, there, "DT_INT32"),
                         values.astype(np.int64).astype(dtype).astype(np.int32))


@wire_cases("cast__narrow_floats")
def _(n):
    """half and bfloat16 keep the nearest value, ties to even."""
    values = np.concatenate([n.floats(21, low=-9, high=9), [1 + 2.0**-11, 1 + 3 * 2.0**-11, 65519, 6e-8, 1 + 2.0**-8,
                                                            1 + 3 * 2.0**-8]]).astype(np.float32)
    x = n.feed(values, "x")
    n.expect("half", cast(n, x, "DT_HALF"), values.astype(np.float16).astype(np.float32))
    bits = values.view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16 << 16
    truth = rounded.astype(np.uint32).view(np.float32)
    n.expect("bfloat16", cast(n, cast(n, x, "DT_BFLOAT16"), "DT_FLOAT"), truth)
    i = n.feed(np.array([2049, 2051, -4097, 257, 511], np.int32), "i")
    n.expect("int_half", cast(n, i, "DT_HALF"), n.inputs["i"].astype(np.float16).astype(np.float32))
    sum_ = n.op("BinaryOp", [cast(n, x, "DT_BFLOAT16"), x], "BinaryOp", {"opType": "ADD"})
    n.expect("bfloat16_plus_float", sum_, truth + values)


@wire_cases("cast__like")
def _(n):
    values = np.array([1.5, -2.5, 300], np.float32)
    x = n.feed(values, "x")
    for dtype in (np.int32, np.int8, np.uint8, np.float32):
        like = n.feed(np.zeros(1, dtype), f"like_{np.dtype(dtype).name}")
        y = n.op("CastLike", [x, like])
        n.expect(f"as_{np.dtype(dtype).name}", y, values.astype(np.int32).astype(dtype) if dtype != np.float32 else values)
