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
