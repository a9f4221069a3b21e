"""Raster with the regions in its table, and changes of format."""
import numpy as np

from generator.wire_net import wire_cases


def raster(n, inputs, shape, regions):
    """regions: for each input its source offset and 3 strides, destination offset and 3 strides, and 3 sizes."""
    attributes = [{"key": "region", "list": {"i": [v for region in regions for v in region]}},
                  {"key": "shape", "list": {"i": list(shape)}}, {"key": "code", "i": 2}, {"key": "bits", "i": 32},
                  {"key": "format", "i": 0}]
    return n.op("Raster", inputs, "Extra", {"attr": sorted(attributes, key=lambda a: a["key"])})


@wire_cases("raster__regions")
def _(n):
    values, other = n.floats(3, 4), n.floats(2, 4)
    x, y = n.feed(values, "x"), n.feed(other, "y")
    n.expect("transposed", raster(n, [x], (4, 3), [[0, 0, 1, 4, 0, 0, 3, 1, 1, 4, 3]]), values.T)
    joined = raster(n, [x, y], (5, 4), [[0, 0, 4, 1, 0, 0, 4, 1, 1, 3, 4], [0, 0, 4, 1, 12, 0, 4, 1, 1, 2, 4]])
    n.expect("joined", joined, np.concatenate([values, other]))
    part = np.zeros((3, 4), np.float32)
    part[1:, 2:] = values[:2, 1:3]
    n.expect("zeros_around", raster(n, [x], (3, 4), [[1, 0, 4, 1, 6, 0, 4, 1, 1, 2, 2]]), part)
    n.expect("repeated", raster(n, [x], (2, 3, 4), [[0, 0, 4, 1, 0, 12, 4, 1, 2, 3, 4]]), np.stack([values] * 2))
    reverse = raster(n, [x], (3, 4), [[11, 0, -4, -1, 0, 0, 4, 1, 1, 3, 4]])
    n.expect("reversed", reverse, values[::-1, ::-1])


@wire_cases("raster__static_model")
def _(n):
    """A static model: the regions of its Rasters are in the description of their output, and a tensor may be described
    with other extents than the operator computes, of the same elements."""
    values = n.floats(1, 3, 4, 5)
    x = n.feed(values, "x")
    n.describe(x, (1, 3, 4, 5))
    last = n.op("Raster", [x])
    n.describe(last, (1, 4, 5, 3), [((0, 0, 1, 20), (0, 0, 3, 1), (1, 20, 3))])
    mean = n.op("Reduction", [last], "ReductionParam", {"operation": "MEAN", "dim": [1], "keepDims": True})
    n.describe(mean, (5, 3))
    both = n.op("Raster", [mean, mean])
    n.describe(both, (2, 5, 4), [((0, 0, 3, 1), (0, 0, 4, 1), (1, 5, 3)), ((0, 0, 3, 1), (21, 0, 4, 1), (1, 5, 3))])
    y = n.op("UnaryOp", [both], "UnaryOp", {"opType": "EXP"})
    n.describe(y, (2, 5, 4))
    truth = np.zeros((2, 5, 4))
    truth[0, :, :3] = truth[1, :, 1:] = values[0].transpose(1, 2, 0).mean(0, dtype=np.float64)
    n.expect("mean", mean, values[0].transpose(1, 2, 0).mean(0, dtype=np.float64).astype(np.float32))
    n.expect("y", y, np.exp(truth).astype(np.float32))


@wire_cases("raster__static_model_superfluous")
def _(n):
    """The converter writes the regions of a slice with steps again, for the output; and it describes the operands of a
    comparison by the type of its result."""
    values = n.floats(2, 5, 3)
    x = n.feed(values, "x")
    n.describe(x, values.shape)
    y = n.op("Raster", [x] * 4)
    n.describe(y, (2, 2, 3), [((12 + 15 * i, -6, 0, 1), (6 * i, 3, 0, 1), (2, 1, 3)) for i in range(4)])
    n.expect("reversed", y, values[:, 4:0:-2])
    spread = n.op("Raster", [y])
    n.describe(spread, (2, 3), [((0, 0, 3, 1), (0, 0, 3, 1), (1, 2, 3))], kind="DT_INT32")
    first = n.op("Raster", [x])
    n.describe(first, (2, 3), [((0, 0, 3, 1), (0, 0, 3, 1), (1, 2, 3))])
    less = n.op("BinaryOp", [first, spread], "BinaryOp", {"opType": "LESS"})
    n.describe(less, (2, 3), kind="DT_INT32")
    n.expect("less", less, (values[0, :2] < values[0, [4, 2]]).astype(np.int32))
