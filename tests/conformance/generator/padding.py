"""Pad with its modes."""
import numpy as np

from generator.net import array, cases


@cases("padding__modes", seed="pad")
def _(n):
    x = n.x(2, 5, 4, 6)
    n.out("constant", "Pad", x, array(0, 0, 1, 2, 0, 0, 3, 1))
    n.out("constant_value", "Pad", x, array(0, 1, 1, 2, 1, 2, 0, 1), np.float32(-1.5))
    n.out("reflect", "Pad", x, array(0, 0, 2, 3, 0, 0, 1, 2), mode="reflect")
    n.out("edge", "Pad", x, array(0, 1, 2, 0, 0, 2, 1, 3), mode="edge")
    n.out("channels", "Pad", x, array(0, 3, 0, 0, 0, 2, 0, 0))
    y = n.x(3, 5)
    n.out("rank2", "Pad", y, array(1, 0, 0, 2))
    n.out("rank2_reflect", "Pad", y, array(1, 2, 2, 3), mode="reflect")
    n.out("rank3_edge", "Pad", n.x(2, 3, 4), array(0, 1, 2, 0, 0, 3), mode="edge")
    n.out("int", "Pad", n.xi(3, 2), array(1, 1, 0, 1), np.int32(7))
    n.out("negative", "Pad", n.x(4, 5, name="crop"), array(-1, 0, 0, -2))
