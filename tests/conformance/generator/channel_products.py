"""SpatialProduct and CosineSimilarity."""
import numpy as np

from generator.wire_net import wire_cases


@wire_cases("channel_products__spatial")
def _(n):
    x, map_ = n.floats(2, 5, 3, 4), n.floats(2, 1, 3, 4)
    n.expect("y", n.op("SpatialProduct", [n.feed(x), n.feed(map_)]), x * map_)


def cosine(a, b, axis):
    """Follows torch.nn.functional.cosine_similarity with its default eps."""
    a, b = np.float64(a), np.float64(b)
    lengths = [np.maximum(np.sqrt((v * v).sum(axis)), 1e-8) for v in (a, b)]
    return np.float32((a * b).sum(axis) / (lengths[0] * lengths[1]))


@wire_cases("channel_products__cosine")
def _(n):
    a, b = n.floats(2, 7, 3, 9), n.floats(2, 7, 3, 9)
    a[0, :, 0, 0] = 0
    b[1, :, 2, 1] *= 1e-5
    a[1, :, 2, 1] *= 1e-5
    left, right = n.feed(a), n.feed(b)
    for axis in (1, -1, 0):
        y = n.op("CosineSimilarity", [left, right, n.const(np.int32(axis))])
        n.expect(f"axis{axis}".replace("-", "_"), y, cosine(a, b, axis))
    c, d = n.floats(7, 3), n.floats(7, 3)
    n.expect("rank2", n.op("CosineSimilarity", [n.feed(c), n.feed(d), n.const(np.int32(1))]), cosine(c, d, 1))
