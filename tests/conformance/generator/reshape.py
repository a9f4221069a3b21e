"""Reshape and its relatives, also with shapes that the net computes."""
import numpy as np
from onnx import TensorProto, helper

from generator.net import array, cases
from generator.wire_net import wire_cases


@cases("reshape__forms", seed="reshape_family")
def _(n):
    x = n.x(2, 6, 4, 5)
    n.out("reshape", "Reshape", x, array(4, 60))
    n.out("reshape_minus", "Reshape", x, array(2, -1, 5))
    n.out("reshape_zero", "Reshape", x, array(0, 3, 2, 0, -1))
    n.out("reshape_rank1", "Reshape", x, array(-1))
    n.out("flatten", "Flatten", x)
    n.out("flatten2", "Flatten", x, axis=2)
    n.out("flatten0", "Flatten", x, axis=0)
    n.out("flatten_m1", "Flatten", x, axis=-1)
    y = n.x(1, 7, 1, 3)
    n.out("squeeze02", "Squeeze", y, array(0, 2))
    n.out("squeeze_m2", "Squeeze", y, array(-2))
    n.out("squeeze_all", "Squeeze", y)
    n.out("unsqueeze", "Unsqueeze", n.x(3, 4), array(0, 3))
    n.out("unsqueeze_m1", "Unsqueeze", n.x(3, 4), array(-1))
    n.out("shuffle", "Reshape", n.op("Transpose", n.op("Reshape", x, array(2, 2, 3, 4, 5)), perm=[0, 2, 1, 3, 4]),
          array(2, 6, 4, 5))
    n.out("from_pool", "Reshape", n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), array(2, -1))


@cases("reshape__dynamic", seed="dynamic_reshape")
def _(n):
    x = n.input(n.floats(2, 6, 5, 4), shape=["n", 6, "h", "w"])
    shape = n.op("Shape", x)
    height = n.op("Gather", shape, np.array(2, np.int64), axis=0)
    width = n.op("Gather", shape, np.array(3, np.int64), axis=0)
    n0 = n.op("Gather", shape, np.array(0, np.int64), axis=0)
    plane = n.op("Mul", height, width)
    un = lambda t: n.op("Unsqueeze", t, array(0))
    n.out("rows", "Reshape", x, n.op("Concat", un(n0), array(6), un(plane), axis=0))
    n.out("shuffle", "Reshape", n.op("Transpose", n.op("Reshape", x, n.op(
        "Concat", un(n0), array(2), array(3), un(height), un(width), axis=0)), perm=[0, 2, 1, 3, 4]), shape)
    n.out("expanded", "Expand", n.floats(1, 6, 1, 1), shape)
    n.out("window", "Slice", x, array(0), un(n.op("Div", height, np.array(2, np.int64))), array(2))
    n.out("filled", "ConstantOfShape", n.op("Slice", shape, array(1), array(3), array(0)),
          value=helper.make_tensor("v", TensorProto.FLOAT, [1], [1.5]))
    n.out("upsampled", "Resize", x, "", "", n.op("Concat", n.op("Slice", shape, array(0), array(2), array(0)),
          n.op("Mul", n.op("Slice", shape, array(2), array(4), array(0)), array(2, 2)), axis=0),
          mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    n.out("positions", "Range", np.array(0, np.int64), plane, np.array(1, np.int64))
    n.out("normalised", "Div", x, n.op("Cast", plane, to=TensorProto.FLOAT))


@wire_cases("reshape__expand_dims")
def _(n):
    values = n.floats(2, 3)
    x = n.feed(values, "x")
    for axis in (0, 1, 2, -1, -3):
        n.expect(f"axis_{axis}", n.op("ExpandDims", [x], "ExpandDims", {"axis": axis}), np.expand_dims(values, axis))
    n.expect("fed", n.op("ExpandDims", [x, n.const(np.int32(1))], "ExpandDims", {}), values[:, None])


@wire_cases("reshape__quantized")
def _(n):
    """QuantizedReshape of TFLite: a Reshape whose extents may be in its table."""
    u = n.random.integers(0, 256, (2, 3, 4)).astype(np.uint8)
    x = n.feed(u, "x")
    n.expect("table", n.op("QuantizedReshape", [x], "QuantizedReshape", {"dims": [4, -1]}), u.reshape(4, 6))
    n.expect("fed", n.op("QuantizedReshape", [x, n.const(np.array([6, 4], np.int32))], "QuantizedReshape", {}),
             u.reshape(6, 4))
