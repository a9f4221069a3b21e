"""Constants in every form that a file has for them."""
import numpy as np

from generator.wire_net import wire_cases


def packed(values, pack=4):
    """Returns [ceil(C/4)][N][plane][4], with the last block filled up with 99."""
    n, c = values.shape[:2]
    blocks = -(-c // pack)
    full = np.full((n, blocks * pack, values[0, 0].size), 99, values.dtype)
    full[:, :c] = values.reshape(n, c, -1)
    return full.reshape(n, blocks, pack, -1).transpose(1, 0, 3, 2).reshape(-1)


@wire_cases("source__packed_constants")
def _(n):
    """A constant tagged NC4HW4 is stored in blocks of four channels."""
    shapes = {"rank2": (3, 5), "rank3": (2, 7, 3), "rank4": (2, 5, 2, 3), "whole": (1, 8, 2, 2), "one": (2, 1, 3)}
    for name, shape in shapes.items():
        values = n.floats(*shape)
        constant = n.op("Const", [], "Blob", {"dims": list(shape), "dataType": "DT_FLOAT", "dataFormat": "NC4HW4",
                                              "float32s": packed(values).tolist()}, data_format="NC4HW4")
        x = n.feed(n.floats(*shape), f"x_{name}", data_format="NC4HW4")
        n.expect(f"sum_{name}", n.op("BinaryOp", [x, constant], "BinaryOp", {"opType": "ADD"}),
                 values + n.inputs[f"x_{name}"])
    whole = n.ints(2, 6, 3)
    constant = n.op("Const", [], "Blob", {"dims": [2, 6, 3], "dataType": "DT_INT32", "dataFormat": "NC4HW4",
                                          "int32s": packed(whole).tolist()}, data_format="NC4HW4")
    i = n.feed(n.ints(2, 6, 3), "i", data_format="NC4HW4")
    n.expect("sum_int", n.op("BinaryOp", [i, constant], "BinaryOp", {"opType": "ADD"}), whole + n.inputs["i"])


@wire_cases("source__types")
def _(n):
    """Constants of every element type, and a trainable one, which is also a constant."""
    forms = {"half": ("DT_HALF", "uint8s", np.float16), "uint8": ("DT_UINT8", "uint8s", np.uint8),
             "int8": ("DT_INT8", "int8s", np.int8), "int32": ("DT_INT32", "int32s", np.int32),
             "int64": ("DT_INT64", "int64s", np.int64), "float": ("DT_FLOAT", "float32s", np.float32)}
    x = n.feed(n.floats(3, 2), "x")
    for name, (kind, field, dtype) in forms.items():
        values = (n.floats(3, 2) * 20).astype(np.int32).astype(dtype)
        if name == "uint8":
            values = n.random.integers(0, 256, (3, 2)).astype(dtype)
        stored = np.frombuffer(values.tobytes(), np.uint8) if name == "half" else values.reshape(-1)
        constant = n.op("Const", [], "Blob", {"dims": [3, 2], "dataType": kind, field: stored.tolist()})
        as_float = n.op("Cast", [constant], "CastParam", {"dstT": "DT_FLOAT"})
        n.expect(f"sum_{name}", n.op("BinaryOp", [x, as_float], "BinaryOp", {"opType": "ADD"}),
                 n.inputs["x"] + values.astype(np.float32))
    values = n.floats(2)
    trainable = n.op("TrainableParam", [], "Blob", {"dims": [2], "dataType": "DT_FLOAT", "float32s": values.tolist()})
    n.expect("sum_trainable", n.op("BinaryOp", [x, trainable], "BinaryOp", {"opType": "ADD"}), n.inputs["x"] + values)


@wire_cases("source__dropout")
def _(n):
    """At inference Dropout is the identity."""
    x = n.feed(n.floats(2, 3), "x")
    n.expect("y", n.op("Dropout", [x]), n.inputs["x"])
