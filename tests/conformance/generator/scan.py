"""CumSum and Trilu."""
import numpy as np

from generator.net import array, cases


@cases("scan__cumsum", seed="cumsum")
def _(n):
    x = n.x(3, 5, 4)
    for axis in (0, 1, -1):
        n.out(f"axis{axis}".replace("-", "m"), "CumSum", x, np.array(axis, np.int32))
    n.out("exclusive", "CumSum", x, np.array(1, np.int32), exclusive=1)
    n.out("reverse", "CumSum", x, np.array(2, np.int32), reverse=1)
    n.out("both", "CumSum", x, np.array(1, np.int32), exclusive=1, reverse=1)
    n.out("int", "CumSum", n.xi(2, 7), np.array(1, np.int32))


@cases("scan__trilu_eye", seed="trilu_eye")
def _(n):
    x = n.x(2, 5, 6)
    n.out("upper", "Trilu", x)
    n.out("lower", "Trilu", x, upper=0)
    n.out("upper_k1", "Trilu", x, np.array(1, np.int64))
    n.out("lower_km2", "Trilu", x, np.array(-2, np.int64), upper=0)
    n.out("eye", "EyeLike", n.x(4, 6), k=1)
