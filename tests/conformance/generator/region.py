"""Operators on regions of pictures: ROIAlign, ROIPooling, CropAndResize."""
import numpy as np

from generator.net import array, cases
from generator.wire_net import wire_cases

BOXES = np.array([[0, 0, 5, 6], [1.5, 2.25, 7, 7.5], [3, 1, 4, 8], [-3, -2, 20, 13], [4, 4, 4, 4]], np.float32)
PICTURES = np.array([1, 0, 1, 0, 1], np.int32)


def roi_align(x, boxes, pictures, size, scale, samples, aligned):
    """The average over samples in double precision, placed as in onnx's reference."""
    height, width = x.shape[2:]
    out = np.zeros((len(boxes), x.shape[1], *size))
    for r, (box, picture) in enumerate(zip(boxes.astype(np.float64) * scale - (0.5 if aligned else 0), pictures)):
        extents = box[[3, 2]] - box[[1, 0]]
        if not aligned:
            extents = np.maximum(extents, 1)
        bins = extents / size
        counts = [samples or int(np.ceil(b)) for b in bins]
        for i in range(size[0]):
            for j in range(size[1]):
                for p in range(counts[0]):
                    for q in range(counts[1]):
                        y = box[1] + i * bins[0] + (p + 0.5) * bins[0] / counts[0]
                        z = box[0] + j * bins[1] + (q + 0.5) * bins[1] / counts[1]
                        if y < -1 or y > height or z < -1 or z > width:
                            continue
                        y, z = np.clip(y, 0, height - 1), np.clip(z, 0, width - 1)
                        a, b = int(y), int(z)
                        c, d = min(a + 1, height - 1), min(b + 1, width - 1)
                        v = x[picture].astype(np.float64)
                        out[r, :, i, j] += ((1 - y + a) * ((1 - z + b) * v[:, a, b] + (z - b) * v[:, a, d])
                                            + (y - a) * ((1 - z + b) * v[:, c, b] + (z - b) * v[:, c, d]))
                out[r, :, i, j] /= max(1, counts[0] * counts[1])
    return out


@cases("region__roi_align", seed="roi_align", opset=16)
def _(n):
    x = n.x(2, 3, 9, 8)
    rois, index = n.input(BOXES, "rois"), n.input(PICTURES, "index", as_type="int64")
    for transform in ("half_pixel", "output_half_pixel"):
        for samples in (0, 3):
            for scale in (1.0, 0.45):
                n.out(f"{transform}_{samples}_{scale}", "RoiAlign", x, rois, index, output_height=3, output_width=2,
                      sampling_ratio=samples, spatial_scale=scale, coordinate_transformation_mode=transform)


@cases("region__roi_align_maximum", opset=16)
def _(n):
    x = n.x(2, 5, 9, 8)
    rois, index = n.input(BOXES, "rois"), n.input(PICTURES, "index", as_type="int64")
    for transform in ("half_pixel", "output_half_pixel"):
        for samples in (0, 1, 2):
            n.out(f"{transform}_{samples}", "RoiAlign", x, rois, index, output_height=2, output_width=3, mode="max",
                  sampling_ratio=samples, spatial_scale=0.9, coordinate_transformation_mode=transform)


@cases("region__roi_align_channels", opset=16)
def _(n):
    rois, index = n.input(BOXES[:3], "rois"), n.input(np.zeros(3, np.int32), "index", as_type="int64")
    for channels in (1, 16, 70):
        n.out(f"channels{channels}", "RoiAlign", n.x(1, channels, 4, 3), rois, index, output_height=1, output_width=2,
              sampling_ratio=9, spatial_scale=0.5)


@cases("region__no_boxes", opset=16)
def _(n):
    x = n.x(1, 3, 5, 5)
    rois = n.input(np.zeros((0, 4), np.float32), "rois", shape=["r", 4])
    index = n.input(np.zeros(0, np.int32), "index", shape=["r"], as_type="int64")
    n.out("align", "RoiAlign", x, rois, index, output_height=2, output_width=3, truth=np.zeros((0, 3, 2, 3)))
    n.out("pool", "MaxRoiPool", x, n.input(np.zeros((0, 5), np.float32), "rows", shape=["q", 5]), pooled_shape=[2, 2],
          truth=np.zeros((0, 3, 2, 2)))


@wire_cases("region__roi_align_rows")
def _(n):
    """Boxes in rows that begin with the number of their picture."""
    x = n.floats(2, 3, 6, 7)
    rows = np.concatenate([PICTURES[:, None].astype(np.float32), BOXES], 1)
    feed, boxes = n.feed(x), n.feed(rows)
    for aligned in (False, True):
        for samples in (-1, 2):
            y = n.op("ROIAlign", [feed, boxes], "RoiParameters",
                     {"pooledHeight": 2, "pooledWidth": 3, "spatialScale": 0.75, "samplingRatio": samples,
                      "aligned": aligned, "poolType": "AVEPOOL"})
            n.expect(f"aligned{int(aligned)}_{samples}", y,
                     roi_align(x, BOXES, PICTURES, (2, 3), 0.75, max(samples, 0), aligned))


@cases("region__roi_pooling", opset=16)
def _(n):
    x = n.x(2, 5, 9, 8)
    rows = n.input(np.concatenate([PICTURES[:, None].astype(np.float32), BOXES], 1), "rows")
    for height, width, scale in ((3, 2, 1.0), (1, 1, 0.5), (4, 5, 0.7)):
        n.out(f"pool{height}x{width}", "MaxRoiPool", x, rows, pooled_shape=[height, width], spatial_scale=scale)


def crop_and_resize(x, boxes, pictures, size, nearest, outside):
    """TensorFlow's crop_and_resize in double precision, over [n, height, width, c]."""
    out = np.full((len(boxes), *size, x.shape[3]), outside, np.float64)
    last = np.array(x.shape[1:3]) - 1
    for r, (box, picture) in enumerate(zip(boxes.astype(np.float64), pictures)):
        for i in range(size[0]):
            for j in range(size[1]):
                at = [box[k] * last[k] + o * (box[k + 2] - box[k]) * last[k] / (size[k] - 1) if size[k] > 1
                      else 0.5 * (box[k] + box[k + 2]) * last[k] for k, o in ((0, i), (1, j))]
                if not all(0 <= a <= b for a, b in zip(at, last)):
                    continue
                v = x[picture].astype(np.float64)
                if nearest:
                    out[r, i, j] = v[int(np.floor(at[0] + 0.5)), int(np.floor(at[1] + 0.5))]
                    continue
                (a, b), (y, z) = np.floor(at).astype(int), at - np.floor(at)
                c, d = np.ceil(at).astype(int)
                out[r, i, j] = ((1 - y) * ((1 - z) * v[a, b] + z * v[a, d]) + y * ((1 - z) * v[c, b] + z * v[c, d]))
    return out


@wire_cases("region__crop_and_resize")
def _(n):
    boxes = np.array([[0, 0, 1, 1], [0.5, 0.5, 1.5, 1.5], [0.9, 0.8, 0.1, 0.3], [-0.25, 0.2, 0.6, 0.9], [0.3, 0.3, 0.3, 0.3],
                      [np.nan, 0, 1, 1]], np.float32)
    pictures = np.array([0, 1, 1, 0, 1, 0], np.int32)
    x = n.floats(2, 7, 5, 3)
    feeds = [n.feed(x, data_format="NHWC"), n.feed(boxes, data_format="NHWC"), n.feed(pictures, data_format="NHWC")]
    for size in ((3, 4), (1, 1), (7, 1)):
        for method, outside in (("BILINEAR", -5.0), ("NEAREST", 0.25)):
            extents = n.const(np.array(size, np.int32), data_format="NHWC")
            y = n.op("CropAndResize", [*feeds, extents], "CropAndResize",
                     {"method": method, "extrapolationValue": outside}, data_format="NHWC")
            n.expect(f"{method.lower()}_{size[0]}x{size[1]}", y,
                     crop_and_resize(x, boxes, pictures, size, method == "NEAREST", outside))
    none = n.op("CropAndResize", [feeds[0], n.const(np.zeros((0, 4), np.float32), data_format="NHWC"),
                                  n.const(np.zeros(0, np.int32), data_format="NHWC"), extents],
                "CropAndResize", {}, data_format="NHWC")
    n.expect("none", none, np.zeros((0, 7, 1, 3)))


@cases("region__no_detection", opset=16)
def _(n):
    """The end of a detector whose scores are all too low."""
    boxes, scores, x = n.input(BOXES[None], "boxes"), n.x(1, 2, 5, name="scores", low=0, high=1), n.x(1, 3, 9, 8)
    hits = n.op("NonMaxSuppression", boxes, scores, array(9), np.float32([0.5]), np.float32([2]))
    n.out("hits", "Identity", hits)
    picked = n.op("Gather", n.op("Squeeze", boxes, array(0)), n.op("Gather", hits, np.int64(2), axis=1))
    n.out("picked", "Identity", picked)
    parts = n.op("Split", picked, array(1, 1, 1, 1), axis=1, count=4)
    areas = n.op("Mul", n.op("Sub", parts[2], parts[0]), n.op("Sub", parts[3], parts[1]))
    n.out("areas", "Squeeze", areas, array(1))
    n.out("joined", "Concat", n.op("Clip", parts[0], np.float32(0)), *parts[1:], axis=1)
    regions = n.op("RoiAlign", x, picked, n.op("Squeeze", n.op("Slice", hits, array(0), array(1), array(1)), array(1)),
                   output_height=2, output_width=2)
    features = n.op("Relu", n.op("MatMul", n.op("Reshape", regions, array(-1, 12)), n.floats(12, 4)))
    n.out("features", "Identity", features)
    n.out("classes", "Softmax", features, axis=1)
    n.out("best", "ReduceMax", features, axes=[1], keepdims=0)
    n.out("sum", "ReduceSum", features, array(0), keepdims=0)
    count = n.op("Slice", n.op("Shape", features), array(0), array(1))
    n.outs(["top", "top_index"], "TopK", n.op("Identity", "best"), count)
    rows = n.op("Transpose", n.op("NonZero", n.op("Greater", scores, np.float32(2))), perm=[1, 0])
    n.out("rows", "Identity", rows)
    n.out("above", "GatherND", scores, rows)
    n.out("slices", "GatherND", scores, n.op("Slice", rows, array(0), array(1), array(1)))
