"""Division by the length: Normalize of SSD, and LpNormalization."""
import numpy as np

from generator.net import cases
from generator.wire_net import wire_cases


@cases("normalize__lp_norm", seed="lp_norm")
def _(n):
    x = n.x(2, 7, 3)
    n.out("l2_axis1", "LpNormalization", x, axis=1, p=2)
    n.out("l2_pattern", "Div", x, n.op("ReduceL2", x, axes=[-1], keepdims=1))


@wire_cases("normalize__shapes", seed="norm__normalize")
def _(n):
    """Over channels, or over a whole image (SSD, Liu et al., arXiv 1512.02325)."""
    for name, shape, spatial in (("channels", (2, 5, 3, 4), 0), ("across", (2, 5, 3, 4), 1), ("rank5", (1, 3, 2, 2, 3), 0),
                                 ("one", (1, 1, 1, 1), 0), ("empty", (0, 2, 3, 3), 0)):
        x, scale = n.floats(*shape), n.floats(shape[1])
        y = n.op("Normalize", [n.feed(x)], "Normalize", {"acrossSpatial": spatial, "channelShared": 0, "eps": 1e-6,
                                                          "scale": scale.tolist()})
        d = x.astype(np.float64)
        length = np.sqrt((d ** 2).sum(tuple(range(1, d.ndim)) if spatial else 1, keepdims=True) + 1e-6)
        n.expect(name, y, d * scale.astype(np.float64).reshape(-1, *[1] * (len(shape) - 2)) / length)


@wire_cases("normalize__scale", seed="norm__normalize_scale")
def _(n):
    """Normalize of SSD: over the channels of a pixel, or over all of an image."""
    values = n.floats(2, 5, 3, 4)
    x = n.feed(values, "x")
    scale = n.floats(5)
    wide = values.astype(np.float64)
    for name, axes, across in (("pixel", 1, 0), ("image", (1, 2, 3), 1)):
        y = n.op("Normalize", [x], "Normalize", {"acrossSpatial": across, "eps": 1e-6, "scale": scale.tolist()})
        truth = wide * scale.reshape(1, 5, 1, 1) / np.sqrt((wide ** 2).sum(axes, keepdims=True) + 1e-6)
        n.expect(name, y, truth.astype(np.float32))
