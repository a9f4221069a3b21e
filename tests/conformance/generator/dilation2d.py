"""Greyscale dilation as TensorFlow's Dilation2D: taps outside of the image do not count."""
import itertools

import numpy as np

from generator.wire_net import wire_cases


def dilation(x, weight, stride, dilate, begin, size):
    out = np.full((*x.shape[:2], *size), -np.inf)
    for ky, kx in itertools.product(range(weight.shape[1]), range(weight.shape[2])):
        for oy, ox in itertools.product(range(size[0]), range(size[1])):
            y, column = oy * stride[0] + ky * dilate[0] - begin[0], ox * stride[1] + kx * dilate[1] - begin[1]
            if 0 <= y < x.shape[2] and 0 <= column < x.shape[3]:
                value = np.float64(x[:, :, y, column]) + weight[:, ky, kx]
                out[:, :, oy, ox] = np.maximum(out[:, :, oy, ox], value)
    return np.float32(out)


@wire_cases("dilation2d__forms")
def _(n):
    value = n.floats(2, 5, 6, 7)
    x = n.feed(value)
    for name, kernel, stride, dilate, mode in (
            ("same", (3, 3), (1, 1), (1, 1), "SAME"), ("valid", (2, 3), (1, 2), (1, 1), "VALID"),
            ("same_stride", (3, 2), (2, 3), (1, 1), "SAME"), ("dilated", (2, 2), (1, 1), (3, 2), "VALID"),
            ("same_gaps", (2, 1), (4, 4), (1, 1), "SAME"), ("same_dilated", (3, 3), (2, 1), (2, 2), "SAME")):
        weight = n.floats(5, *kernel)
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilate)]
        extents = value.shape[2:]
        if mode == "SAME":
            size = [-(-e // s) for e, s in zip(extents, stride)]
            begin = [max(0, (o - 1) * s + r - e) // 2 for o, s, r, e in zip(size, stride, reach, extents)]
        else:
            size, begin = [(e - r) // s + 1 for e, r, s in zip(extents, reach, stride)], [0, 0]
        table = {"common": {"kernelY": kernel[0], "kernelX": kernel[1], "strideY": stride[0], "strideX": stride[1],
                            "dilateY": dilate[0], "dilateX": dilate[1], "padMode": mode, "outputCount": 5,
                            "inputCount": 5}, "weight": weight.reshape(-1).tolist()}
        n.expect(name, n.op("Dilation2D", [x], "Convolution2D", table),
                 dilation(value, weight, stride, dilate, begin, size))
