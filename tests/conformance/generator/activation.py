"""ReLU and the like, with parameters."""
import numpy as np

from generator.net import array, cases


@cases("activation__parameters", seed="activation_parameters")
def _(n):
    x = n.x(2, 6, 5, 3, low=-4, high=8)
    n.out("leaky", "LeakyRelu", x, alpha=0.2)
    n.out("leaky_negative", "LeakyRelu", x, alpha=-0.5)
    n.out("elu", "Elu", x, alpha=0.7)
    n.out("selu", "Selu", x, alpha=1.3, gamma=0.9)
    n.out("hard_sigmoid", "HardSigmoid", x, alpha=0.3, beta=0.4)
    n.out("hard_sigmoid_6", "HardSigmoid", x, alpha=1 / 6, beta=0.5)
    n.out("clip", "Clip", x, np.float32(-1.5), np.float32(2.5))
    n.out("clip_low", "Clip", x, np.float32(-0.5))
    n.out("clip_high", "Clip", x, "", np.float32(1.5))
    n.out("relu6", "Clip", x, np.float32(0), np.float32(6))
    n.out("prelu_channel", "PRelu", x, n.floats(6, 1, 1, low=-0.5, high=0.5))
    n.out("prelu_shared", "PRelu", x, np.array([0.25], np.float32))
    n.out("thresholded", "ThresholdedRelu", x, alpha=1.2)


@cases("activation__infinity")
def _(n):
    """-infinity at every place of a vector; a sum before, which may compute ReLU itself."""
    x = n.floats(3, 37, low=-4, high=4)
    x[:, ::3], x[1, ::2] = -np.inf, -np.inf
    x = n.input(x, "x")
    n.out("relu", "Relu", x)
    n.out("relu_of_sum", "Relu", n.op("Add", x, n.floats(37)))
    n.out("clip", "Clip", x, np.float32(-1.5), np.float32(2.5))


@cases("activation__prelu_shapes", seed="prelu_shapes")
def _(n):
    x = n.x(2, 35, 3, low=-2, high=2)
    n.out("rank3_channel", "PRelu", x, n.floats(35, 1))
    y = n.x(4, 7)
    n.out("rank2", "PRelu", y, n.floats(7))


@cases("activation__clip_dynamic_bounds", seed="clip_dynamic_bounds")
def _(n):
    x = n.x(2, 3, 5)
    low, high = n.input(np.array(-0.75, np.float32), "low"), n.input(np.array(0.5, np.float32), "high")
    n.out("both", "Clip", x, low, high)
    n.out("int", "Clip", n.xi(3, 5), np.int32(-4), np.int32(5))
