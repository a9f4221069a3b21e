"""Interp: every kind of resize with every rule of coordinates."""
import math

import numpy as np

from generator.forms.common import form, ints

RULES = {"AlignCorners": lambda o, i, k: o * (i - 1) / (k - 1) if k > 1 else 0.0,
         "HalfPixels": lambda o, i, k: (o + 0.5) * i / k - 0.5,
         "PytorchHalfPixels": lambda o, i, k: (o + 0.5) * i / k - 0.5 if k > 1 else 0.0,
         "Asymmetric": lambda o, i, k: o * i / k}
KINDS = {"nearest": 1, "linear": 2, "cubic": 3, "round": 4}


def cubic(t, a=-0.75):
    """Keys, Cubic convolution interpolation for digital image processing (1981), with the official runtime's a."""
    t = abs(t)
    if t <= 1:
        return (a + 2) * t ** 3 - (a + 3) * t ** 2 + 1
    return a * t ** 3 - 5 * a * t ** 2 + 8 * a * t - 4 * a if t < 2 else 0.0


def taps(kind, s):
    """Returns the positions and the weights of the elements around s."""
    low = math.floor(s)
    if kind == "linear":
        return [(low, 1 - (s - low)), (low + 1, s - low)]
    if kind == "cubic":
        return [(low + d, cubic(s - low - d)) for d in (-1, 0, 1, 2)]
    return [(low if kind == "nearest" else math.ceil(s - 0.5), 1.0)]


def along(x, axis, size, kind, rule):
    """Applies the matrix that computes the new axis, row after row."""
    extent = x.shape[axis]
    matrix = np.zeros((size, extent))
    for o in range(size):
        for place, share in taps(kind, RULES[rule](o, extent, size)):
            matrix[o, min(max(place, 0), extent - 1)] += share
    return np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)


def resize(n, kind, rule):
    x = n.floats(2, 3, 4, 6)
    feed = n.feed(x, "x")
    for name, (height, width) in {"double": (8, 12), "half": (2, 3), "one": (1, 1), "mixed": (8, 3), "triple": (12, 18),
                                  "same": (4, 6)}.items():
        value = along(along(x.astype(np.float64), 2, height, kind, rule), 3, width, kind, rule)
        main = {"resizeType": KINDS[kind], "ctm": rule}
        if name in ("double", "one"):
            y = n.op("Interp", [feed], "Interp", {**main, "outputHeight": height, "outputWidth": width})
        else:
            y = n.op("Interp", [feed, ints(n, 2, 3, height, width)], "Interp", main)
        n.expect(name, y, value)


for resize_kind in KINDS:
    for resize_rule in RULES:
        form(f"interp__{resize_kind}_{resize_rule}", resize, resize_kind, resize_rule)
