"""DepthToSpace and SpaceToDepth."""
import numpy as np

from generator.net import cases
from generator.wire_net import wire_cases


@cases("space__depth", seed="space_depth")
def _(n):
    x = n.x(2, 12, 3, 5)
    n.out("dcr", "DepthToSpace", x, blocksize=2, mode="DCR")
    n.out("crd", "DepthToSpace", x, blocksize=2, mode="CRD")
    y = n.x(1, 5, 6, 9)
    n.out("space3", "SpaceToDepth", y, blocksize=3)
    n.out("depth3", "DepthToSpace", n.x(1, 18, 2, 1), blocksize=3)


def space_to_batch(x, block, pads):
    """TensorFlow's definition on an NCHW tensor."""
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    batch, channels, height, width = x.shape
    split = x.reshape(batch, channels, height // block[0], block[0], width // block[1], block[1])
    return split.transpose(3, 5, 0, 1, 2, 4).reshape(-1, channels, height // block[0], width // block[1])


@wire_cases("space__batch")
def _(n):
    values = n.floats(2, 3, 4, 6)
    x = n.feed(values, "x")
    for name, block, pads in (("plain", (2, 3), ((0, 0), (0, 0))), ("padded", (2, 2), ((1, 1), (0, 2))),
                              ("odd", (3, 2), ((1, 1), (1, 1)))):
        blocks, padding = n.const(np.array(block, np.int32)), n.const(np.array(pads, np.int32))
        there = n.op("SpaceToBatchND", [x, blocks, padding])
        back = n.op("BatchToSpaceND", [there, blocks, padding])
        n.expect(f"to_batch_{name}", there, space_to_batch(values, block, pads))
        n.expect(f"back_{name}", back, values)
    table = {"blockShape": {"dims": [2], "dataType": "DT_INT32", "int32s": [2, 2]},
             "padding": {"dims": [2, 2], "dataType": "DT_INT32", "int32s": [0, 0, 1, 1]}}
    n.expect("by_table", n.op("SpaceToBatchND", [x], "SpaceBatch", table),
             space_to_batch(values, (2, 2), ((0, 0), (1, 1))))
