"""Histogram, as numpy.histogram. Its table is that of ArgMax, whose fields have other meanings."""
import numpy as np

from generator.wire_net import wire_cases


def histogram(n, name, tensor, value, bins, low, high, channel=-1):
    y = n.op("Histogram", [tensor], "ArgMax",
             {"outMaxVal": bins, "softmaxThreshold": low, "topK": high, "axis": channel})
    counted = value if channel < 0 else value[..., channel]
    n.expect(name, y, np.float32(np.histogram(np.float64(counted), bins, (low, high))[0]))


@wire_cases("histogram__types")
def _(n):
    value = n.floats(3, 40, 5, low=-3, high=7)
    value[0, :4, 0] = (-2, 6, np.inf, -np.inf)
    x = n.feed(value)
    histogram(n, "all", x, value, 8, -2, 6)
    histogram(n, "channel", x, value, 5, -3, 7, 4)
    histogram(n, "one_bin", x, value, 1, 0, 1)
    histogram(n, "no_width", x, value, 4, 2, 2)
    ints = n.ints(7, 30, low=-50, high=51)
    histogram(n, "int32", n.feed(ints), ints, 10, -40, 40)
    pixels = n.random.integers(0, 256, (1, 20, 20, 3)).astype(np.uint8)
    image = n.feed(pixels, data_format="NHWC")
    histogram(n, "uint8", image, pixels, 16, 0, 255)
    histogram(n, "uint8_channel", image, pixels, 256, 0, 256, 1)
    histogram(n, "nothing", n.feed(np.zeros((0, 3), np.float32)), np.zeros((0, 3)), 3, 0, 1)
