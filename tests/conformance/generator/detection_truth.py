"""The detection operators as their frameworks define them, in double precision."""
import numpy as np


def overlap(a, b, extra=0.0):
    """Intersection over union of two boxes of lower and upper corners."""
    side_a, side_b = a[2:] - a[:2] + extra, b[2:] - b[:2] + extra
    common = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]) + extra
    if min(side_a.min(), side_b.min(), common.min()) <= 0:
        return 0.0
    inner = common.prod()
    return inner / (side_a.prod() + side_b.prod() - inner)


def suppress(boxes, order, most, limit, extra=0.0):
    kept = []
    for i in order:
        if len(kept) == most:
            break
        if all(overlap(boxes[k], boxes[i], extra) <= limit for k in kept):
            kept.append(i)
    return kept


def descending(scores, chosen):
    return sorted(chosen, key=lambda i: (-scores[i], i))


def post_process(codes, scores, anchors, p):
    """TFLite_Detection_PostProcess (detection_postprocess.cc of TFLite): boxes, classes, scores, count."""
    sy, sx, sh, sw = p["centerSizeEncoding"]
    batch, most = len(codes), p["maxDetections"] * p["maxClassesPerDetection"]
    boxes_out, classes_out = np.zeros((batch, most, 4)), np.zeros((batch, most))
    scores_out, count = np.zeros((batch, most)), np.zeros(batch)
    a = anchors.astype(np.float64)
    for n in range(batch):
        c = codes[n].astype(np.float64)
        centre = np.stack([c[:, 0] / sy * a[:, 2] + a[:, 0], c[:, 1] / sx * a[:, 3] + a[:, 1]], 1)
        half = np.stack([np.exp(c[:, 2] / sh) * a[:, 2], np.exp(c[:, 3] / sw) * a[:, 3]], 1) / 2
        boxes = np.concatenate([centre - half, centre + half], 1)
        s = scores[n][:, scores.shape[2] - p["numClasses"]:]
        rows = {}
        if p.get("useRegularNMS"):
            found = []
            for k in range(p["numClasses"]):
                order = descending(s[:, k], [i for i in range(len(s)) if s[i, k] >= p["nmsScoreThreshold"]])
                kept = suppress(boxes, order, min(p["detectionsPerClass"], p["maxDetections"]), p["iouThreshold"])
                found += [(-s[i, k], k, i) for i in kept]
            found = sorted(found)[:p["maxDetections"]]
            rows = {at: (i, k) for at, (_, k, i) in enumerate(found)}
            count[n] = len(found)
        elif len(s):
            best = s.max(1)
            kept = suppress(boxes, descending(best, [i for i in range(len(s)) if best[i] >= p["nmsScoreThreshold"]]),
                            p["maxDetections"], p["iouThreshold"])
            for at, i in enumerate(kept):
                for column, k in enumerate(descending(s[i], range(p["numClasses"]))[:p["maxClassesPerDetection"]]):
                    rows[at * p["maxClassesPerDetection"] + column] = (i, k)
            count[n] = len(kept)
        for at, (i, k) in rows.items():
            boxes_out[n, at], classes_out[n, at], scores_out[n, at] = boxes[i], k, s[i, k]
    return boxes_out, classes_out, scores_out, count


CORNER, CENTRE_SIZE, CORNER_SIZE = 1, 2, 3


def decode(kind, encoded, prior, variance, code):
    size, v = prior[2:] - prior[:2], code * (1 if encoded else variance)
    if kind == CENTRE_SIZE:
        centre, half = v[:2] * size + (prior[:2] + prior[2:]) / 2, np.exp(v[2:]) * size / 2
        return np.concatenate([centre - half, centre + half])
    return prior + v * (np.tile(size, 2) if kind == CORNER_SIZE else 1)


def detection_output(location, confidence, prior, p, arm_confidence=None, arm_location=None):
    """DetectionOutput of Caffe's SSD branch, without the column of the picture: rows of label, score and corners."""
    prior, variance = prior.astype(np.float64).reshape(2, -1, 4)
    count, classes = len(prior), p["classCount"]
    kind, encoded = p["codeType"], p.get("varianceEncodedTarget", 0)
    sets = 1 if p["shareLocation"] else classes
    location = location.astype(np.float64).reshape(count, sets, 4)
    confidence = confidence.reshape(count, classes).copy()
    if arm_location is not None:
        arm = arm_location.astype(np.float64).reshape(count, 4)
        prior = np.stack([decode(kind, encoded, prior[i], variance[i], arm[i]) for i in range(count)])
        confidence[arm_confidence.reshape(count, 2)[:, 1] < p["objectnessScore"]] = 0
    rows = []
    for k in range(classes):
        if k == p.get("backgroundLable", 0):
            continue
        boxes = [decode(kind, encoded, prior[i], variance[i], location[i, k % sets]) for i in range(count)]
        order = descending(confidence[:, k], [i for i in range(count) if confidence[i, k] > p["confidenceThreshold"]])
        if p.get("nmsTopK", 0) > 0:
            order = order[:p["nmsTopK"]]
        rows += [(k, confidence[i, k], *boxes[i]) for i in suppress(boxes, order, count, p["nmsThresholdold"])]
    if p["keepTopK"] >= 0:
        rows = sorted(rows, key=lambda row: -row[1])[:p["keepTopK"]]
    return np.array(sorted(rows, key=lambda row: (row[0], -row[1])), np.float64).reshape(1, 1, -1, 6)


def prior_box(feature, image, p):
    """PriorBox of Caffe's SSD branch. feature, image: (height, width)."""
    size = np.array([p.get("imageWidth") or image[1], p.get("imageHeight") or image[0]], np.float64)
    step = np.array([p.get("stepWidth") or size[0] / feature[1], p.get("stepHeight") or size[1] / feature[0]])
    ratios = [1.0]
    for ratio in p.get("aspectRatios", []):
        if all(abs(ratio - known) >= 1e-6 for known in ratios):
            ratios += [ratio, 1 / ratio] if p.get("flip") else [ratio]
    boxes = []
    for y in range(feature[0]):
        for x in range(feature[1]):
            centre = (np.array([x, y]) + p["offset"]) * step
            for i, least in enumerate(p["minSizes"]):
                sizes = [(least, least)]
                if p.get("maxSizes"):
                    sizes.append((np.sqrt(least * p["maxSizes"][i]),) * 2)
                sizes += [(least * np.sqrt(r), least / np.sqrt(r)) for r in ratios[1:]]
                boxes += [np.concatenate([centre - np.array(s) / 2, centre + np.array(s) / 2]) / np.tile(size, 2)
                          for s in sizes]
    boxes = np.array(boxes).reshape(-1)
    variances = p.get("variances") or [0.1]
    spread = np.tile(variances if len(variances) == 4 else variances * 4, len(boxes) // 4)
    return np.stack([np.clip(boxes, 0, 1) if p.get("clip") else boxes, spread]).reshape(1, 2, -1, 1)


def anchors_of(base, ratios, scales):
    """generate_anchors.py of py-faster-rcnn, as corners that are pixels."""
    centre, result = (base - 1) / 2, []
    for ratio in ratios:
        width = np.round(np.sqrt(base * base / ratio))
        height = np.round(width * ratio)
        for scale in scales:
            half = (np.array([width, height]) * scale - 1) / 2
            result.append(np.concatenate([centre - half, centre + half]))
    return np.array(result)


def proposal(scores, deltas, image, p, ratios, scales):
    """proposal_layer.py of py-faster-rcnn for every picture, with rows of 0 behind the proposals: rows, their scores."""
    anchors = anchors_of(p["baseSize"], ratios, scales)
    count, (height, width) = len(anchors), scores.shape[2:]
    rows_of, scores_of = [], []
    for n in range(len(scores)):
        h, w, scale = image[min(n, len(image) - 1)].reshape(-1)[:3].astype(np.float64)
        boxes, values = [], []
        for y in range(height):
            for x in range(width):
                for a in range(count):
                    corners = anchors[a] + p["featStride"] * np.array([x, y, x, y])
                    size = corners[2:] - corners[:2] + 1
                    d = deltas[n, 4 * a:4 * a + 4, y, x].astype(np.float64)
                    centre, half = d[:2] * size + corners[:2] + size / 2, np.exp(d[2:]) * size / 2
                    boxes.append(np.clip(np.concatenate([centre - half, centre + half]), 0, np.tile([w - 1, h - 1], 2)))
                    values.append(scores[n, count + a, y, x])
        least = p["minSize"] * scale
        order = descending(values, [i for i, b in enumerate(boxes) if (b[2:] - b[:2] + 1 >= least).all()])
        if p.get("preNmsTopN", 0) > 0:
            order = order[:p["preNmsTopN"]]
        most = p["afterNmsTopN"] or len(boxes)
        kept = suppress(boxes, order, most, p["nmsThreshold"], 1.0)
        rows = np.zeros((most, 5))
        rows[:len(kept), 0] = n
        rows[:len(kept), 1:] = [boxes[i] for i in kept] if kept else 0
        if len(kept) == 0:
            rows[:] = 0
        rows_of.append(rows)
        scores_of.append(np.pad([float(values[i]) for i in kept], (0, most - len(kept))))
    return np.concatenate(rows_of).reshape(-1, 5, 1, 1), np.concatenate(scores_of).reshape(-1, 1, 1, 1)
