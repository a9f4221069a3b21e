"""Im2Col and Col2Im."""
import itertools

import numpy as np

from generator.wire_net import wire_cases


def taps(kernel, dilate, stride, pads, size):
    """Lists, for each tap, the places of a padded image of this size that the patches read."""
    count = [(size[i] + pads[i] + pads[i + 2] - (kernel[i] - 1) * dilate[i] - 1) // stride[i] + 1 for i in (0, 1)]
    cuts = [tuple(slice(t * d, t * d + (c - 1) * s + 1, s) for t, d, c, s in zip(tap, dilate, count, stride))
            for tap in itertools.product(*map(range, kernel))]
    return count, cuts


def common(kernel, dilate, stride, pads):
    return {"common": {"kernelY": kernel[0], "kernelX": kernel[1], "dilateY": dilate[0], "dilateX": dilate[1],
                       "strideY": stride[0], "strideX": stride[1], "pads": list(pads), "padMode": "CAFFE"}}


FORMS = {"plain": ((2, 2), (1, 1), (1, 1), (0, 0, 0, 0)),
         "padded": ((3, 2), (1, 1), (2, 1), (1, 0, 1, 1)),
         "dilated": ((2, 3), (3, 2), (1, 2), (2, 1, 0, 3)),
         "cut": ((1, 2), (1, 1), (3, 3), (0, 0, 0, 0)),
         "column": ((3, 1), (2, 1), (1, 1), (2, 0, 2, 0))}


@wire_cases("columns__im2col")
def _(n):
    value = n.floats(2, 3, 5, 4)
    x = n.feed(value)
    for name, (kernel, dilate, stride, pads) in FORMS.items():
        count, cuts = taps(kernel, dilate, stride, pads, value.shape[2:])
        padded = np.pad(value, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
        columns = np.stack([padded[(slice(None), slice(None), *cut)] for cut in cuts], 2)  # n, c, tap, y, x
        rows = columns.transpose(1, 2, 0, 3, 4).reshape(3 * len(cuts), 2 * count[0] * count[1])
        n.expect(name, n.op("Im2Col", [x], "Convolution2D", common(kernel, dilate, stride, pads)), rows)


@wire_cases("columns__im2col_nhwc")
def _(n):
    value = n.floats(1, 4, 5, 3)
    kernel, dilate, stride, pads = FORMS["padded"]
    count, cuts = taps(kernel, dilate, stride, pads, value.shape[1:3])
    padded = np.pad(value.transpose(0, 3, 1, 2), [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
    rows = np.stack([padded[(slice(None), slice(None), *cut)] for cut in cuts], 2)
    x = n.feed(value, data_format="NHWC")
    y = n.op("Im2Col", [x], "Convolution2D", common(kernel, dilate, stride, pads), data_format="NHWC")
    n.expect("y", y, rows.transpose(1, 2, 0, 3, 4).reshape(3 * len(cuts), -1))


@wire_cases("columns__col2im")
def _(n):
    size = (5, 4)
    for name, (kernel, dilate, stride, pads) in FORMS.items():
        count, cuts = taps(kernel, dilate, stride, pads, size)
        value = n.floats(2, 3 * len(cuts), count[0] * count[1])
        padded = np.zeros((2, 3, size[0] + pads[0] + pads[2], size[1] + pads[1] + pads[3]))
        columns = value.reshape(2, 3, len(cuts), *count)
        for i, cut in enumerate(cuts):
            padded[(slice(None), slice(None), *cut)] += columns[:, :, i]
        image = padded[:, :, pads[0]:pads[0] + size[0], pads[1]:pads[1] + size[1]]
        y = n.op("Col2Im", [n.feed(value), n.const(np.int32(size))], "Convolution2D",
                 common(kernel, dilate, stride, pads))
        n.expect(name, y, np.float32(image))
