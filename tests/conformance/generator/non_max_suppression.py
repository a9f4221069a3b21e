"""Non-maximum suppression of boxes."""
import numpy as np

from generator.net import array, cases
from generator.wire_net import wire_cases


@cases("non_max_suppression__single_class", seed="nms")
def _(n):
    corner = n.floats(1, 12, 2, low=0, high=8)
    boxes = n.input(np.concatenate([corner, corner + n.floats(1, 12, 2, low=2, high=5)], axis=2), "boxes")
    scores = n.input(n.floats(1, 1, 12, low=0, high=1), "scores")
    n.out("plain", "NonMaxSuppression", boxes, scores, array(20), np.array([0.4], np.float32))
    n.out("limited", "NonMaxSuppression", boxes, scores, array(3), np.array([0.7], np.float32),
          np.array([0.3], np.float32))


@cases("non_max_suppression__classes", seed="nms_classes")
def _(n):
    corner = n.floats(1, 9, 2, low=0, high=8)
    boxes = n.input(np.concatenate([corner, corner + n.floats(1, 9, 2, low=2, high=5)], axis=2), "boxes")
    scores = n.input(n.floats(1, 3, 9, low=0, high=1), "scores")
    n.out("selected", "NonMaxSuppression", boxes, scores, array(4), np.array([0.3], np.float32),
          np.array([0.2], np.float32))


@cases("non_max_suppression__ties")
def _(n):
    """Four scores, each of many boxes: among equal scores the first box is taken first, and suppresses the others."""
    corner = n.floats(1, 45, 2, low=0, high=20)
    boxes = n.input(np.concatenate([corner, corner + 2], axis=2), "boxes")
    scores = n.input(np.floor(n.floats(1, 2, 45, low=0, high=3.99)) / 4, "scores")
    n.out("selected", "NonMaxSuppression", boxes, scores, array(40), np.array([0.3], np.float32))


@wire_cases("non_max_suppression__static_model")
def _(n):
    """A static model has rows for all boxes: missing results are -1, in rows after two zeros, as in the official
    runtime."""
    boxes = np.array([[0, 0, 2, 2], [0, 0, 2, 2], [4, 4, 6, 6], [8, 8, 9, 9], [8, 8, 9, 9]], np.float32)
    scores = np.array([0.5, 0.9, 0.3, 0.2, 0.8], np.float32)
    kept = [1, 4, 2]

    def search(form, most, score, shape, found):
        places = [n.feed(boxes.reshape(form + (5, 4)))]
        places.append(n.feed(scores if not form else scores.reshape(1, 1, 5)))
        for tensor, value in zip(places, (boxes.reshape(form + (5, 4)), scores if not form else scores.reshape(1, 1, 5))):
            n.describe(tensor, value.shape)
        for value, kind in ((np.array([most], np.int32), "DT_INT32"), (np.array([0.5], np.float32), "DT_FLOAT"),
                            (np.array([score], np.float32), "DT_FLOAT")):
            places.append(n.const(value))
            n.describe(places[-1], value.shape, kind=kind)
        y = n.op("NonMaxSuppressionV2", places)
        n.describe(y, shape, kind="DT_INT32")
        n.expect(f"{'rows' if form else 'list'}_{most}_{len(found)}", y,
                 np.array([[0, 0, i] if form else i for i in found + [-1] * (shape[0] - len(found))], np.int32))

    for form, columns in (((), ()), ((1,), (3,))):
        search(form, 5, 0.0, (5, *columns), kept)
        search(form, 2, 0.0, (2, *columns), kept[:2])
        search(form, 5, 2.0, (5, *columns), [])
