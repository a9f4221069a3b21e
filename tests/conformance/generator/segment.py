"""Segment: TensorFlow's SegmentMean."""
import numpy as np

from generator.wire_net import wire_cases


def means(x, ids):
    count = ids[-1] + 1 if len(ids) else 0
    rows = [np.float64(x)[ids == s].mean(0) if (ids == s).any() else np.zeros(x.shape[1:]) for s in range(count)]
    return np.float32(np.stack(rows)) if rows else np.zeros((0, *x.shape[1:]), np.float32)


@wire_cases("segment__mean")
def _(n):
    x = n.floats(7, 3, 2)
    rows = n.feed(x)
    for name, ids in {"runs": [0, 0, 1, 2, 2, 2, 3], "one": [0] * 7, "gaps": [1, 1, 4, 4, 4, 6, 6]}.items():
        ids = np.int32(ids)
        n.expect(name, n.op("Segment", [rows, n.const(ids)], "ReductionParam", {"operation": "MEAN"}), means(x, ids))
    ids = np.int32([0, 0, 2, 2])
    values = n.floats(4)
    n.expect("rank1_fed", n.op("Segment", [n.feed(values), n.feed(ids)], "ReductionParam", {}), means(values, ids))
