"""Resize and its relatives: sampling between the elements of an image."""
import numpy as np

from generator.net import cases
from generator.wire_net import wire_cases


def resize(n, name, x, scales=None, sizes=None, official=False, **attributes):
    if scales is not None:
        n.out(name, "Resize", x, "", np.array(scales, np.float32), official=official, **attributes)
    else:
        n.out(name, "Resize", x, "", "", np.array(sizes, np.int64), official=official, **attributes)


@cases("interp__resize_nearest", seed="resize_nearest")
def _(n):
    x = n.x(2, 5, 4, 6)
    floor = dict(mode="nearest", nearest_mode="floor")
    resize(n, "x2", x, scales=[1, 1, 2, 2], coordinate_transformation_mode="asymmetric", **floor)
    resize(n, "x3_half_pixel", x, scales=[1, 1, 3, 3], mode="nearest",
           coordinate_transformation_mode="half_pixel", nearest_mode="round_prefer_floor", official=True)
    resize(n, "down", x, sizes=[2, 5, 2, 3], coordinate_transformation_mode="asymmetric", **floor)
    resize(n, "odd", x, sizes=[2, 5, 7, 11], coordinate_transformation_mode="asymmetric", official=True, **floor)
    resize(n, "align", x, sizes=[2, 5, 7, 11], coordinate_transformation_mode="align_corners", official=True, **floor)


@cases("interp__resize_linear", seed="resize_linear")
def _(n):
    x = n.x(2, 5, 4, 6)
    for mode in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"):
        resize(n, f"x2_{mode}", x, scales=[1, 1, 2, 2], mode="linear", coordinate_transformation_mode=mode)
        resize(n, f"odd_{mode}", x, sizes=[2, 5, 7, 9], mode="linear", coordinate_transformation_mode=mode)
        resize(n, f"down_{mode}", x, sizes=[2, 5, 3, 2], mode="linear", coordinate_transformation_mode=mode)
    y = n.x(1, 3, 1, 1)
    resize(n, "from_1x1", y, sizes=[1, 3, 3, 4], mode="linear", coordinate_transformation_mode="align_corners")


@cases("interp__resize_cubic", seed="resize_cubic")
def _(n):
    x = n.x(1, 3, 4, 5)
    for mode in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"):
        resize(n, f"x2_{mode}", x, scales=[1, 1, 2, 2], mode="cubic", coordinate_transformation_mode=mode)
        resize(n, f"odd_{mode}", x, sizes=[1, 3, 7, 3], mode="cubic", coordinate_transformation_mode=mode)
    resize(n, "keys_half_pixel", x, scales=[1, 1, 3, 2], mode="cubic", cubic_coeff_a=-0.5)
    resize(n, "keys_align_corners", x, sizes=[1, 3, 9, 4], mode="cubic", cubic_coeff_a=-0.5,
           coordinate_transformation_mode="align_corners")


@cases("interp__resize_volume", seed="resize_volume")
def _(n):
    x = n.x(1, 2, 3, 3, 4)
    resize(n, "nearest", x, scales=[1, 1, 2, 3, 2], mode="nearest", coordinate_transformation_mode="asymmetric",
           nearest_mode="floor")
    for mode in ("half_pixel", "align_corners", "asymmetric"):
        resize(n, f"linear_{mode}", x, sizes=[1, 2, 5, 2, 7], mode="linear", coordinate_transformation_mode=mode)


# Positions that are an integer or a half, or very near one: with floor(o * (in / out)) in single precision, and with
# floor(s + 0.499) instead of ceil(s - 0.5), some of them choose another element.
@cases("interp__resize_nearest_exact")
def _(n):
    def picked(x, out, place):
        index = np.clip([place(o, x.shape[-1], out) for o in range(out)], 0, x.shape[-1] - 1)
        return x[..., index]

    x = n.floats(1, 1, 1, 2000)
    name = n.input(x)
    floor = dict(mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    n.out("round", "Resize", name, "", "", np.array([1, 1, 1, 2001], np.int64), mode="nearest",
          nearest_mode="round_prefer_floor", coordinate_transformation_mode="half_pixel",
          truth=picked(x, 2001, lambda o, i, k: -(-((2 * o + 1) * i - 2 * k) // (2 * k))))
    y = n.floats(1, 2, 1, 2)
    name = n.input(y)
    n.out("floor", "Resize", name, "", "", np.array([1, 2, 1, 82], np.int64), **floor,
          truth=picked(y, 82, lambda o, i, k: o * i // k))


@wire_cases("interp__volume")
def _(n):
    """Interp3D, which older converters write. Truth: the same resize, axis after axis."""
    x = n.floats(1, 3, 2, 3, 4)
    fed = n.feed(x)
    modes = {"AlignCorners": lambda o, i, k: o * (i - 1) / (k - 1), "HalfPixels": lambda o, i, k: (o + 0.5) * i / k - 0.5,
             "Asymmetric": lambda o, i, k: o * i / k}
    sizes = (3, 5, 6)
    for mode, place in modes.items():
        y = x.astype(np.float64)
        for axis, out in enumerate(sizes, 2):
            s = np.array([place(o, x.shape[axis], out) for o in range(out)])
            low = np.floor(s).astype(int)
            shape = [1] * 5
            shape[axis] = out
            part = (s - low).reshape(shape)
            last = x.shape[axis] - 1
            y = np.take(y, low.clip(0, last), axis) * (1 - part) + np.take(y, (low + 1).clip(0, last), axis) * part
        field = n.op("Interp3D", [fed], "Interp", {"resizeType": 2, "ctm": mode, "outputDepth": 3, "outputHeight": 5,
                                                   "outputWidth": 6})
        n.expect(f"fields_{mode}", field, y)
        listed = n.op("Interp3D", [fed, n.const(np.array([1, 3, *sizes], np.int32))], "Interp",
                      {"resizeType": 2, "ctm": mode})
        n.expect(f"list_{mode}", listed, y)


@cases("interp__empty")
def _(n):
    x = n.input(np.zeros((0, 3, 4, 4), np.float32), shape=["n", 3, 4, 4])
    resize(n, "linear", x, scales=[1, 1, 2, 2], mode="linear")
    resize(n, "nearest", x, scales=[1, 1, 2, 2], mode="nearest", coordinate_transformation_mode="asymmetric",
           nearest_mode="floor")


@cases("interp__upsample", seed="upsample", opset=9)
def _(n):
    x = n.x(1, 6, 3, 4)
    n.out("nearest", "Upsample", x, np.array([1, 1, 2, 3], np.float32), mode="nearest")
    n.out("linear", "Upsample", x, np.array([1, 1, 2, 2], np.float32), mode="linear", official=True)


@wire_cases("interp__caffe_resize")
def _(n):
    """Resize of old files of Caffe: bilinear, source positions are the target's times in / out."""
    values = n.floats(2, 3, 4, 5)
    x = n.feed(values, "x")

    def along(data, axis, size):
        extent = data.shape[axis]
        place = np.arange(size) * (extent / size)
        low = np.minimum(place.astype(int), extent - 1)
        high, share = np.minimum(low + 1, extent - 1), place - low
        shape = [1] * data.ndim
        shape[axis] = size
        share = share.reshape(shape)
        return np.take(data, low, axis) * (1 - share) + np.take(data, high, axis) * share

    for name, (sx, sy) in {"up": (2.0, 1.5), "down": (0.6, 0.5), "mixed": (0.41, 3.0)}.items():
        width, height = int(5 * np.float32(sx)), int(4 * np.float32(sy))
        truth = along(along(values.astype(np.float64), 2, height), 3, width)
        n.expect(name, n.op("Resize", [x], "Resize", {"xScale": sx, "yScale": sy}), truth.astype(np.float32))


@cases("interp__static_model", flags=["--saveStaticModel"])
def _(n):
    """Static models hold the map from positions of the output to those of the input; the result's extents are described."""
    x = n.x(2, 3, 4, 6)
    for mode in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"):
        common = dict(coordinate_transformation_mode=mode)
        resize(n, f"linear_{mode}", x, sizes=[2, 3, 7, 9], mode="linear", **common)
        resize(n, f"double_{mode}", x, scales=[1, 1, 2, 2], mode="linear", **common)
        resize(n, f"cubic_{mode}", x, sizes=[2, 3, 3, 8], mode="cubic", **common)
        resize(n, f"one_{mode}", x, sizes=[2, 3, 1, 1], mode="linear", **common)
    floor = dict(mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    resize(n, "floor", x, sizes=[2, 3, 12, 18], **floor)
    resize(n, "round", x, scales=[1, 1, 3, 3], mode="nearest", coordinate_transformation_mode="half_pixel",
           nearest_mode="round_prefer_floor", official=True)
    volume = n.x(1, 2, 3, 3, 4)
    resize(n, "volume", volume, sizes=[1, 2, 5, 2, 7], mode="linear", coordinate_transformation_mode="half_pixel")


@wire_cases("interp__static_model_of_caffe")
def _(n):
    """In static models the converter writes an arbitrary number as the coordinate mode: these nets define everything by
    scale and offset. Interp3D may keep its ordinary form, whose scales are reciprocals."""
    values = n.floats(1, 2, 3, 4)
    x = n.feed(values, "x")
    n.describe(x, values.shape)

    def along(data, axis, size, scale, offset):
        last = data.shape[axis] - 1
        place = np.arange(size) * scale + offset
        low = np.floor(place).astype(int)
        shape = [1] * data.ndim
        shape[axis] = size
        share = (place - low).reshape(shape)
        return np.take(data, low.clip(0, last), axis) * (1 - share) + np.take(data, (low + 1).clip(0, last), axis) * share

    for mode in (112, -64, 6):
        y = n.op("Interp", [x], "Interp", {"resizeType": 2, "ctm": mode, "heightScale": 0.75, "widthScale": 0.8,
                                           "heightOffset": 0.2, "widthOffset": -0.1, "depthScale": -0.5})
        n.describe(y, (1, 2, 4, 5))
        n.expect(f"mode{mode}", y, along(along(values.astype(np.float64), 2, 4, 0.75, 0.2), 3, 5, 0.8, -0.1))
    box = n.floats(1, 2, 2, 3, 4)
    fed = n.feed(box, "box")
    n.describe(fed, box.shape)
    y = n.op("Interp3D", [fed], "Interp", {"resizeType": 2, "ctm": "Asymmetric", "depthScale": 2, "heightScale": 1,
                                           "widthScale": 1.5})
    n.describe(y, (1, 2, 4, 3, 6))
    n.expect("volume", y, along(along(box.astype(np.float64), 2, 4, 0.5, 0), 4, 6, 4 / 6, 0))


@wire_cases("interp__static_model_exact")
def _(n):
    """Rounded scales represent the ratio of the extents: with the float32 itself, other neighbours would be chosen."""
    values = n.floats(1, 1, 1, 2000)
    x = n.feed(values, "x")
    n.describe(x, values.shape)
    scale = np.float32(2000 / 2001)
    for name, kind, offset, place in (
            ("round", 4, np.float32(0.5 * scale - 0.5), lambda o: -(-((2 * o + 1) * 2000 - 2 * 2001) // (2 * 2001))),
            ("floor", 1, 0, lambda o: o * 2000 // 2001),
            ("ends", 1, 0, lambda o: o * 1999 // 2000)):
        s = np.float32(1999 / 2000) if name == "ends" else scale
        y = n.op("Interp", [x], "Interp", {"resizeType": kind, "ctm": "AlignCorners" if name == "ends" else "HalfPixels",
                                           "heightScale": 1, "widthScale": float(s), "widthOffset": float(offset)})
        n.describe(y, (1, 1, 1, 2001))
        n.expect(name, y, values[..., np.clip([place(o) for o in range(2001)], 0, 1999)])
