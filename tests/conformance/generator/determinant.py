"""Det."""
import numpy as np

from generator.net import cases


@cases("determinant__forms")
def _(n):
    n.out("batch", "Det", n.x(2, 3, 4, 4))
    n.out("one", "Det", n.x(3, 1, 1))
    n.out("odd", "Det", n.x(2, 7, 7))
    n.out("exchanged", "Det", n.input(np.float32([[[0, 1], [1, 0]], [[0, 2], [3, 4]], [[1, 2], [2, 4]]])))
