"""Operators that turn the outputs of detectors into boxes. The truth is a formula of their framework in double precision."""
import numpy as np

from generator import detection_truth as truth
from generator.wire_net import wire_cases


def post_process(n, name, boxes, classes, *, batch=1, background=1, width=4, score_range=(0.0, 1.0), **fields):
    """One DetectionPostProcess with random inputs, whose four results are outputs."""
    p = {"maxDetections": 6, "maxClassesPerDetection": 1, "detectionsPerClass": 4, "nmsScoreThreshold": 0.2,
         "iouThreshold": 0.45, "numClasses": classes, "centerSizeEncoding": [10.0, 10.0, 5.0, 5.0], **fields}
    codes = n.floats(batch, boxes, width)
    scores = n.floats(batch, boxes, classes + background, low=score_range[0], high=score_range[1])
    anchors = np.concatenate([n.floats(boxes, 2, low=0.2, high=0.8), n.floats(boxes, 2, low=0.1, high=0.5)], 1)
    inputs = [n.feed(codes, f"{name}_codes"), n.feed(scores, f"{name}_scores")]
    inputs.append(n.const(anchors) if boxes else n.feed(anchors, f"{name}_anchors"))
    results = n.op("DetectionPostProcess", inputs, "DetectionPostProcessParam", p, count=4)
    for kind, tensor, value in zip(("boxes", "classes", "scores", "count"), results,
                                   truth.post_process(codes, scores, anchors, p)):
        n.expect(f"{name}_{kind}", tensor, value)


@wire_cases("detection__post_process")
def _(n):
    post_process(n, "ssd", 30, 3)
    post_process(n, "no_background", 17, 5, background=0, width=5, centerSizeEncoding=[8.0, 9.0, 4.0, 3.0])
    post_process(n, "batch", 12, 2, batch=2)
    post_process(n, "many", 3, 1, maxDetections=10)


@wire_cases("detection__post_process_classes")
def _(n):
    post_process(n, "two", 30, 4, maxClassesPerDetection=2)
    post_process(n, "more_than_there_are", 20, 2, maxClassesPerDetection=5)


@wire_cases("detection__post_process_regular")
def _(n):
    post_process(n, "each_class", 40, 3, useRegularNMS=True)
    post_process(n, "one_of_each", 25, 7, useRegularNMS=True, detectionsPerClass=1, maxDetections=4)


@wire_cases("detection__post_process_nothing")
def _(n):
    post_process(n, "low", 12, 3, nmsScoreThreshold=2.0)
    post_process(n, "low_regular", 12, 3, nmsScoreThreshold=2.0, useRegularNMS=True)
    post_process(n, "no_boxes", 0, 3)
    post_process(n, "no_results", 9, 3, maxDetections=0)


def priors(n, count):
    centre, size = n.floats(count, 2, low=0.2, high=0.8), n.floats(count, 2, low=0.1, high=0.5)
    corners = np.concatenate([centre - size / 2, centre + size / 2], 1).reshape(-1)
    return np.stack([corners, np.tile(np.float32([0.1, 0.1, 0.2, 0.2]), count)]).reshape(1, 2, -1, 1)


def detection_output(n, name, count, classes, *, refine=False, rank4=False, **fields):
    p = {"classCount": classes, "nmsThresholdold": 0.4, "nmsTopK": 0, "keepTopK": 20, "confidenceThreshold": 0.3,
         "shareLocation": 1, "backgroundLable": 0, "varianceEncodedTarget": 0, "codeType": 2, "objectnessScore": 0.3,
         **fields}
    sets = 1 if p["shareLocation"] else classes
    tail = (1, 1) if rank4 else ()
    location, confidence = n.floats(1, count * sets * 4, *tail), n.floats(1, count * classes, *tail, low=0.0, high=1.0)
    values = [location, confidence, priors(n, count)]
    if refine:
        values += [n.floats(1, count * 2, low=0.0, high=1.0), n.floats(1, count * 4)]
    kinds = ("location", "confidence", "priors", "arm_confidence", "arm_location")
    inputs = [n.feed(value, f"{name}_{kind}", data_format="NC4HW4" if rank4 else "NCHW")
              for value, kind in zip(values, kinds)]
    result = n.op("DetectionOutput", inputs, "DetectionOutput", p)
    n.expect(name, result, truth.detection_output(*values[:3], p, *values[3:]))


@wire_cases("detection__output")
def _(n):
    detection_output(n, "ssd", 30, 4)
    detection_output(n, "packed", 12, 3, rank4=True)
    detection_output(n, "all", 20, 3, keepTopK=-1, nmsTopK=5)
    detection_output(n, "background_last", 12, 3, backgroundLable=2, keepTopK=3)
    detection_output(n, "no_background", 12, 2, backgroundLable=-1)


@wire_cases("detection__output_codes")
def _(n):
    detection_output(n, "corner", 20, 3, codeType=1)
    detection_output(n, "corner_size", 20, 3, codeType=3, varianceEncodedTarget=1)
    detection_output(n, "own_locations", 14, 3, shareLocation=0)
    detection_output(n, "encoded", 20, 3, varianceEncodedTarget=1)


@wire_cases("detection__output_refined")
def _(n):
    detection_output(n, "refined", 40, 3, refine=True)


@wire_cases("detection__output_nothing")
def _(n):
    detection_output(n, "nothing", 12, 3, confidenceThreshold=2.0)
    detection_output(n, "no_priors", 0, 3)
    detection_output(n, "keep_none", 12, 3, keepTopK=0)


def prior_box(n, name, feature, image, **fields):
    p = {"minSizes": [30.0], "offset": 0.5, **fields}
    inputs = [n.feed(np.zeros((1, 2, *feature), np.float32), f"{name}_feature"),
              n.feed(np.zeros((1, 3, *image), np.float32), f"{name}_image")]
    result = n.op("PriorBox", inputs, "PriorBox", p)
    n.expect(name, result, truth.prior_box(feature, image, p))


@wire_cases("detection__prior_box")
def _(n):
    prior_box(n, "ssd", (3, 4), (7, 9), maxSizes=[60.0], aspectRatios=[2.0], flip=True, clip=True,
              variances=[0.1, 0.1, 0.2, 0.2])
    prior_box(n, "sizes", (2, 2), (8, 8), minSizes=[3.0, 5.0], maxSizes=[4.0, 7.0], aspectRatios=[2.0, 3.0, 2.0])
    prior_box(n, "plain", (1, 1), (7, 9), variances=[0.3])
    prior_box(n, "given", (4, 3), (10, 10), imageWidth=300, imageHeight=200, stepWidth=16, stepHeight=32, offset=0.25)


def proposal(n, name, anchors, plane, *, batch=1, images=None, outputs=2, **fields):
    ratios, scales = anchors
    p = {"featStride": 16, "baseSize": 16, "preNmsTopN": 60, "afterNmsTopN": 12, "nmsThreshold": 0.7, "minSize": 16,
         **fields}
    count = len(ratios) * len(scales)
    scores = n.floats(batch, 2 * count, *plane, low=0.0, high=1.0)
    deltas = n.floats(batch, 4 * count, *plane, low=-0.5, high=0.5)
    image = np.tile(np.float32([plane[0] * 16, plane[1] * 16, 1.5]), (images or batch, 1)).astype(np.float32)
    inputs = [n.feed(scores, f"{name}_scores"), n.feed(deltas, f"{name}_deltas"), n.feed(image, f"{name}_image")]
    table = {**p, "ratios": {"dims": [len(ratios)], "float32s": ratios}, "scales": {"dims": [len(scales)], "float32s": scales}}
    results = n.op("Proposal", inputs, "Proposal", table, count=outputs)
    for kind, tensor, value in zip(("rois", "roi_scores"), results if outputs > 1 else [results],
                                   truth.proposal(scores, deltas, image, p, ratios, scales)):
        n.expect(f"{name}_{kind}", tensor, value)


@wire_cases("detection__proposal")
def _(n):
    proposal(n, "rcnn", ([0.5, 1.0, 2.0], [1.0, 2.0]), (4, 5))
    proposal(n, "all", ([1.0], [2.0]), (3, 2), outputs=1, preNmsTopN=0, afterNmsTopN=0)
    proposal(n, "batch", ([0.5, 1.0], [1.0]), (3, 3), batch=2, images=1, afterNmsTopN=6)
    proposal(n, "nothing", ([1.0], [1.0]), (2, 2), minSize=1000)
