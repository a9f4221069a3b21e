"""Pooling: both kinds with one form of the window in each case."""
import numpy as np

from generator.forms.common import form

WINDOWS = {
    "k1": dict(kernel=(1, 1)), "k2_stride2": dict(kernel=(2, 2), stride=(2, 2)), "k3": dict(kernel=(3, 3)),
    "k2x3": dict(kernel=(2, 3), stride=(1, 2)), "k1x4": dict(kernel=(1, 4)),
    "k5_stride3": dict(kernel=(5, 5), stride=(3, 3)),
    "pad1": dict(kernel=(3, 3), stride=(2, 2), pads=(1, 1, 1, 1)),
    "pads_begin": dict(kernel=(3, 2), stride=(1, 2), pads=(2, 1, 0, 0)),
    "pads_end": dict(kernel=(2, 3), stride=(2, 1), pads=(0, 0, 1, 2)),
    "same": dict(kernel=(3, 3), mode="SAME"), "same_stride2": dict(kernel=(3, 3), stride=(2, 2), mode="SAME"),
    "same_even": dict(kernel=(2, 4), stride=(1, 2), mode="SAME"), "valid": dict(kernel=(3, 2), stride=(2, 2), mode="VALID"),
    "ceil": dict(kernel=(3, 2), stride=(2, 3), ceil=True),
    "ceil_pads": dict(kernel=(3, 3), stride=(2, 2), pads=(1, 0, 1, 1), ceil=True),
    "whole": dict(kernel=(6, 7)), "global": dict(kernel=(6, 7), whole=True),
    "include": dict(kernel=(3, 3), stride=(2, 2), pads=(1, 1, 1, 1), include=True),
    "include_end": dict(kernel=(3, 3), stride=(2, 1), pads=(0, 0, 2, 1), include=True)}


def spans(extent, kernel, stride, begin, end, ceil):
    """Returns where the windows of an axis begin and end, in positions of the image; none begins behind it."""
    rest = extent + begin + end - kernel
    count = (-(-rest // stride) if ceil else rest // stride) + 1
    while ceil and (count - 1) * stride >= extent + begin:
        count -= 1
    return [(o * stride - begin, o * stride - begin + kernel) for o in range(count)]


def pool(n, kind, options):
    kernel, stride = options["kernel"], options.get("stride", (1, 1))
    for name, shape in (("image", (1, 3, 6, 7)), ("batch", (2, 2, 6, 7)), ("wide", (1, 9, 6, 7))):
        x = n.floats(*shape)
        pads = options.get("pads", (0, 0, 0, 0))
        if options.get("mode") == "SAME":
            totals = [max(0, (-(-e // s) - 1) * s + k - e) for e, s, k in zip(shape[2:], stride, kernel)]
            pads = (*[t // 2 for t in totals], *[t - t // 2 for t in totals])
        axes = [spans(shape[2 + i], kernel[i], stride[i], pads[i], pads[2 + i], options.get("ceil")) for i in (0, 1)]
        value = np.zeros((*shape[:2], len(axes[0]), len(axes[1])))
        for i, (top, bottom) in enumerate(axes[0]):
            for j, (left, right) in enumerate(axes[1]):
                part = x[:, :, max(top, 0):bottom, max(left, 0):right].astype(np.float64)
                size = part.shape[2] * part.shape[3]
                if options.get("include"):
                    size = (min(bottom, shape[2] + pads[2]) - top) * (min(right, shape[3] + pads[3]) - left)
                value[:, :, i, j] = part.max((2, 3)) if kind == "MAXPOOL" else part.sum((2, 3)) / size
        table = {"type": kind, "kernelY": kernel[0], "kernelX": kernel[1], "strideY": stride[0], "strideX": stride[1],
                 "padType": options.get("mode", "CAFFE"), "ceilModel": bool(options.get("ceil")),
                 "isGlobal": bool(options.get("whole")),
                 "countType": "INCLUDE_PADDING" if options.get("include") else "EXCLUDE_PADDING"}
        if "mode" not in options:
            table["pads"] = list(pads)
        n.expect(name, n.op("Pooling", [n.feed(x, f"x_{name}")], "Pool", table), value)


def low(n):
    """Maxima of values far below zero."""
    x = n.floats(1, 5, 4, 5, low=-9e8, high=-1e8)
    x[0, 1] = -np.inf
    windows = np.lib.stride_tricks.sliding_window_view(x, (2, 3), (2, 3))
    for name, whole, value in (("windows", False, windows.max((-2, -1))), ("global", True, x.max((2, 3), keepdims=True))):
        table = {"type": "MAXPOOL", "kernelY": 2, "kernelX": 3, "strideY": 1, "strideX": 1, "pads": [0, 0, 0, 0],
                 "ceilModel": False, "isGlobal": whole}
        n.expect(name, n.op("Pooling", [n.feed(x, f"x_{name}")], "Pool", table), value)


form("pooling__max_low", low)
for variant, of_window in WINDOWS.items():
    form(f"pooling__average_{variant}", pool, "AVEPOOL", of_window)
    if variant not in ("include", "include_end", "k1x4", "pads_end", "k1", "same"):
        form(f"pooling__max_{variant}", pool, "MAXPOOL", of_window)
