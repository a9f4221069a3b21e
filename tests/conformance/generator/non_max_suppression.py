"""Non-maximum suppression of boxes."""
import numpy as np

from generator.net import array, cases


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
    """Four scores, each of many boxes: of equal ones the first box is taken first, and suppresses the others."""
    corner = n.floats(1, 45, 2, low=0, high=20)
    boxes = n.input(np.concatenate([corner, corner + 2], axis=2), "boxes")
    scores = n.input(np.floor(n.floats(1, 2, 45, low=0, high=3.99)) / 4, "scores")
    n.out("selected", "NonMaxSuppression", boxes, scores, array(40), np.array([0.3], np.float32))
