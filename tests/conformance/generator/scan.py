"""CumSum and Trilu."""
import numpy as np

from generator.net import array, cases
from generator.wire_net import wire_cases


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


@wire_cases("scan__cumulative_product")
def _(n):
    values = n.floats(3, 4, 5)
    x, i = n.feed(values, "x"), n.feed(n.ints(2, 6, low=-3, high=4), "i")
    for axis in (0, 1, -1):
        y = n.op("CumProd", [x], "Axis", {"axis": axis})
        n.expect(f"axis_{axis % 3}", y, np.cumprod(values.astype(np.float64), axis).astype(np.float32))
    n.expect("int", n.op("CumProd", [i], "Axis", {"axis": 1}), np.cumprod(n.inputs["i"], 1, dtype=np.int32))


@wire_cases("scan__band_part")
def _(n):
    values = n.floats(2, 4, 6)
    x = n.feed(values, "x")
    row, column = np.indices((4, 6))
    for name, (lower, upper) in {"diagonal": (0, 0), "lower": (-1, 0), "upper": (0, -1), "band": (1, 2), "all": (-1, -1)}.items():
        y = n.op("MatrixBandPart", [x, n.const(np.int32(lower)), n.const(np.int32(upper))])
        keep = ((lower < 0) | (row - column <= lower)) & ((upper < 0) | (column - row <= upper))
        n.expect(name, y, values * keep)
