"""PoolGrad and Conv2DBackPropFilter: sums over windows in double precision."""
import itertools

import numpy as np

from generator.wire_net import wire_cases


def windows(x, kernel, stride, begin, out):
    """The slices of the plane that each window covers."""
    for oy, ox in itertools.product(range(out[0]), range(out[1])):
        ranges = [slice(max(o * s - b, 0), min(o * s - b + k, extent))
                  for o, s, b, k, extent in zip((oy, ox), stride, begin, kernel, x.shape[2:])]
        yield oy, ox, (..., *ranges)


def pool_grad(n, name, x, kernel, stride, out, *, pad=(0, 0), begin=None, average=False, count="DEFAULT",
              data_format="NC4HW4", **fields):
    begin = pad if begin is None else begin
    y, dx = np.zeros((*x.shape[:2], *out), np.float32), np.zeros(x.shape)
    dy = n.floats(*y.shape)
    for oy, ox, at in windows(x, kernel, stride, begin, out):
        patch = x[at]
        gradient = np.float64(dy[:, :, oy, ox])[..., None, None]
        if average:
            area = patch.shape[2] * patch.shape[3]
            if count == "INCLUDE_PADDING" or (count == "DEFAULT" and fields.get("padType", "CAFFE") == "CAFFE"):
                area = np.prod([min(o * s - p + k, extent + p) - (o * s - p)
                                for o, s, p, k, extent in zip((oy, ox), stride, begin, kernel, x.shape[2:])])
            y[:, :, oy, ox] = patch.mean((2, 3))
            dx[at] += gradient / area
        else:
            y[:, :, oy, ox] = patch.max((2, 3))
            dx[at] += gradient * (patch >= y[:, :, oy, ox][..., None, None])
    table = {"kernelY": kernel[0], "kernelX": kernel[1], "strideY": stride[0], "strideX": stride[1], "padY": pad[0],
             "padX": pad[1], "type": "AVEPOOL" if average else "MAXPOOL", "countType": count, **fields}
    feeds = []
    for value in (x, y, dy):
        stored = np.ascontiguousarray(value.transpose(0, 2, 3, 1)) if data_format == "NHWC" else value
        feeds.append(n.feed(stored, data_format=data_format))
    result = n.op("PoolGrad", feeds, "Pool", table)
    n.expect(name, result, np.ascontiguousarray(dx.transpose(0, 2, 3, 1)) if data_format == "NHWC" else dx)


@wire_cases("gradients__max_pool")
def _(n):
    x = n.floats(2, 3, 6, 7)
    pool_grad(n, "plain", x, (2, 2), (2, 2), (3, 3), ceilModel=False)
    pool_grad(n, "overlapping", x, (3, 2), (1, 2), (6, 4), pad=(1, 1), ceilModel=False)
    pool_grad(n, "same", x, (3, 3), (2, 2), (3, 4), begin=(0, 1), padType="SAME")
    pool_grad(n, "valid", x, (3, 3), (2, 2), (2, 3), padType="VALID")
    pool_grad(n, "global", x, (6, 7), (1, 1), (1, 1), isGlobal=True)
    pool_grad(n, "nhwc", n.floats(2, 3, 4, 4), (2, 2), (2, 2), (2, 2), data_format="NHWC")
    ties = n.ints(1, 3, 5, 5, low=0, high=3).astype(np.float32)
    pool_grad(n, "ties", ties, (3, 3), (2, 2), (2, 2), ceilModel=False, data_format="NCHW")


@wire_cases("gradients__average_pool")
def _(n):
    x = n.floats(2, 3, 6, 7)
    pool_grad(n, "plain", x, (2, 2), (2, 2), (3, 3), average=True, ceilModel=False)
    pool_grad(n, "counted", x, (3, 3), (2, 2), (3, 4), pad=(1, 1), average=True, ceilModel=False)
    pool_grad(n, "not_counted", x, (3, 3), (2, 2), (3, 4), pad=(1, 1), average=True, count="EXCLUDE_PADDING",
              ceilModel=False)
    pool_grad(n, "same", x, (3, 3), (2, 2), (3, 4), begin=(0, 1), average=True, padType="SAME")
    pool_grad(n, "global", x, (6, 7), (1, 1), (1, 1), average=True, isGlobal=True, count="EXCLUDE_PADDING")


def filter_gradient(n, name, x, channels, kernel, *, stride=(1, 1), dilate=(1, 1), pads=(0, 0, 0, 0), group=1,
                    data_format="NC4HW4", **fields):
    padded = np.pad(np.float64(x), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    out = [(padded.shape[2 + i] - (kernel[i] - 1) * dilate[i] - 1) // stride[i] + 1 for i in range(2)]
    dy = n.floats(x.shape[0], channels, *out)
    each = x.shape[1] // group
    dw = np.zeros((channels, each, *kernel))
    for ky, kx in itertools.product(range(kernel[0]), range(kernel[1])):
        tap = padded[:, :, ky * dilate[0]:, kx * dilate[1]:][:, :, ::stride[0], ::stride[1]][:, :, :out[0], :out[1]]
        for o in range(channels):
            first = o // (channels // group) * each
            dw[o, :, ky, kx] = np.einsum("nchw,nhw->c", tap[:, first:first + each], np.float64(dy[:, o]))
    common = {"kernelY": kernel[0], "kernelX": kernel[1], "strideY": stride[0], "strideX": stride[1],
              "dilateY": dilate[0], "dilateX": dilate[1], "group": group, **fields}
    if "padMode" not in fields:
        common["pads"] = list(pads)
    feeds = []
    for value in (x, dy):
        stored = np.ascontiguousarray(value.transpose(0, 2, 3, 1)) if data_format == "NHWC" else value
        feeds.append(n.feed(stored, data_format=data_format))
    n.expect(name, n.op("Conv2DBackPropFilter", feeds, "Convolution2D", {"common": common}), dw)


@wire_cases("gradients__filter")
def _(n):
    x = n.floats(2, 4, 6, 6)
    filter_gradient(n, "plain", x, 4, (3, 3))
    filter_gradient(n, "padded", x, 5, (3, 2), stride=(2, 3), pads=(1, 0, 2, 2))
    filter_gradient(n, "dilated", x, 3, (2, 3), dilate=(3, 2), pads=(1, 2, 1, 2))
    filter_gradient(n, "same", x, 3, (3, 3), stride=(2, 2), pads=(0, 0, 1, 1), padMode="SAME")
    filter_gradient(n, "depthwise", x, 4, (3, 3), pads=(1, 1, 1, 1), group=4)
    filter_gradient(n, "groups", x, 4, (3, 3), group=2)
    filter_gradient(n, "pointwise_nhwc", n.floats(3, 5, 2, 4), 7, (1, 1), data_format="NHWC")
    filter_gradient(n, "no_images", np.zeros((0, 2, 3, 3), np.float32), 2, (2, 2))
