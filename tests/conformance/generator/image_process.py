"""ImageProcess: pictures, sampled by a matrix and converted. The formulas are those of the official image functions,
whose matrix leads from pixels of the result to places in the picture."""
import numpy as np

from generator.wire_net import wire_cases

CHANNELS = {"RGBA": "RGBA", "RGB": "RGB", "BGR": "BGR", "GRAY": "Y", "BGRA": "BGRA"}


def sampled(x, height, width, matrix, bilinear, padding):
    """x: [n, h, w, c]. padding: the value outside of the picture, or None for the nearest pixel."""
    rows, columns = np.mgrid[:height, :width].astype(np.float64)
    places = np.float64(np.float32(matrix)).reshape(3, 3) @ np.stack([columns, rows, np.ones_like(rows)]).reshape(3, -1)
    place = (places[:2] / places[2]).reshape(2, height, width)
    if not bilinear:
        place = np.floor(place + 0.5)
    limit = np.float64([x.shape[2] - 1, x.shape[1] - 1]).reshape(2, 1, 1)
    near = np.clip(place, 0, limit)
    low = near.astype(int)
    high = np.minimum(low + 1, limit.astype(int))
    weight = (near - low)[..., None]
    x = np.float64(x)
    above = x[:, low[1], low[0]] * (1 - weight[0]) + x[:, low[1], high[0]] * weight[0]
    below = x[:, high[1], low[0]] * (1 - weight[0]) + x[:, high[1], high[0]] * weight[0]
    y = np.floor(above * (1 - weight[1]) + below * weight[1] + 0.5)
    if padding is not None:
        y[:, (near != place).any(0)] = padding
    return y


def converted(x, source, target):
    planes = {c: x[..., i] for i, c in enumerate(CHANNELS[source])}
    if source == "GRAY":
        planes.update({c: planes["Y"] for c in "RGB"})
    else:
        planes["Y"] = (19 * planes["R"] + 38 * planes["G"] + 7 * planes["B"]) // 64
    planes.setdefault("A", np.full(x.shape[:-1], 255.0))
    return np.stack([planes[c] for c in CHANNELS[target]], -1)


def picture(n, name, source, target, size, *, images=1, to=None, matrix=(1, 0, 0, 0, 1, 0, 0, 0, 1), bilinear=False,
            padding=None, as_bytes=False, data_format="NHWC", mean=(), normal=()):
    value = n.random.integers(0, 256, (images, *size, len(CHANNELS[source]))).astype(np.uint8)
    height, width = to or size
    table = {"filterType": "BILINEAR" if bilinear else "NEAREST", "sourceFormat": source, "destFormat": target,
             "wrap": "CLAMP_TO_EDGE" if padding is None else "ZERO", "mean": list(mean), "normal": list(normal),
             "transform": [float(v) for v in matrix], "paddingValue": (padding or 0) - 256 * ((padding or 0) > 127),
             "shape": [images, len(CHANNELS[target]), height, width],
             "outputType": "DT_UINT8" if as_bytes else "DT_FLOAT"}
    stored = value if data_format == "NHWC" else np.ascontiguousarray(value.transpose(0, 3, 1, 2))
    y = n.op("ImageProcess", [n.feed(stored, data_format=data_format)], "ImageProcessParam", table)
    truth = converted(sampled(value, height, width, matrix, bilinear, padding), source, target)
    if as_bytes:
        truth = truth.astype(np.uint8)
    elif mean:
        channels = truth.shape[-1]
        truth = (truth - np.float64(mean)[:channels]) * np.float64(np.float32(normal))[:channels]
    n.expect(name, y, truth if data_format == "NHWC" else np.ascontiguousarray(truth.transpose(0, 3, 1, 2)))


@wire_cases("image_process__formats")
def _(n):
    for source in CHANNELS:
        for target in CHANNELS:
            picture(n, f"{source}_{target}", source, target, (2, 3))


@wire_cases("image_process__factors")
def _(n):
    picture(n, "float", "RGB", "BGR", (3, 5), mean=(103.5, 116.25, 123.75, 0), normal=(0.017, 0.0175, 0.0171, 1))
    picture(n, "batch", "RGBA", "RGB", (2, 3), images=3, mean=(1, 2, 3), normal=(0.5, 1, 2))
    picture(n, "bytes", "BGR", "GRAY", (4, 3), as_bytes=True)
    picture(n, "channel_first", "RGB", "GRAY", (4, 3), images=2, data_format="NCHW")
    picture(n, "packed", "RGB", "RGBA", (2, 5), images=2, data_format="NC4HW4", mean=(9, 8, 7, 6),
            normal=(1, 2, 0.5, 0.25))


@wire_cases("image_process__matrix")
def _(n):
    picture(n, "crop", "RGB", "RGB", (4, 5), to=(2, 3))
    picture(n, "nearest", "RGB", "RGB", (4, 5), to=(7, 3), matrix=(1.7, 0, 0.2, 0, 0.6, -0.3, 0, 0, 1))
    picture(n, "bilinear", "RGB", "RGB", (4, 5), to=(9, 8), matrix=(0.6, 0, 0.1, 0, 0.4, -0.3, 0, 0, 1), bilinear=True)
    picture(n, "rotated", "GRAY", "GRAY", (6, 7), matrix=(0.8, -0.6, 1.3, 0.6, 0.8, -1.1, 0, 0, 1), bilinear=True,
            padding=200, as_bytes=True)
    picture(n, "shifted", "RGBA", "RGBA", (3, 4), to=(5, 6), matrix=(1, 0, -1, 0, 1, -1, 0, 0, 1), padding=9)
    picture(n, "perspective", "GRAY", "GRAY", (6, 6), matrix=(1, 0.1, 0, 0, 1.1, 0, 0.05, 0.02, 1), bilinear=True)
    picture(n, "nothing", "RGB", "RGB", (3, 3), to=(0, 4))
