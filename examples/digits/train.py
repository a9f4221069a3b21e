#!/usr/bin/env python3
"""Trains the demo net on scikit-learn's handwritten digits and writes digits.mnn and the held-out images.

The net has two 3x3 convolutions, a max pooling and a fully connected layer. It is trained in plain NumPy, seeded, and
never on the test split.
Needs numpy, scikit-learn, onnx and the MNN wheel (its converter):  python3 train.py
"""
import os
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED = 7
EPOCHS = 30
BATCH = 32
HERE = os.path.dirname(os.path.abspath(__file__))


def columns(x):
    """Returns the 3x3 neighbourhoods of NCHW images, padded by one: N x H x W x (C * 9)."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    n, c, h, w = x.shape
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


def scatter(grad, channels):
    """Returns the gradient of columns(): adds every neighbourhood back to its image."""
    n, h, w, _ = grad.shape
    grad = grad.reshape(n, h, w, channels, 3, 3)
    padded = np.zeros((n, channels, h + 2, w + 2), grad.dtype)
    for i in range(3):
        for j in range(3):
            padded[:, :, i : i + h, j : j + w] += grad[:, :, :, :, i, j].transpose(0, 3, 1, 2)
    return padded[:, :, 1:-1, 1:-1]


class Net:
    """The layers: conv 1->16, relu, conv 16->32, relu, max pool 2x2, linear 512->10."""

    def __init__(self, random):
        def start(shape, fan_in):
            return (random.standard_normal(shape) * np.sqrt(2 / fan_in)).astype(np.float32)

        self.p = {
            "w1": start((16, 9), 9), "b1": np.zeros(16, np.float32),
            "w2": start((32, 144), 144), "b2": np.zeros(32, np.float32),
            "w3": start((10, 512), 512), "b3": np.zeros(10, np.float32),
        }  # fmt: skip

    def forward(self, x):
        p = self.p
        c1 = columns(x)
        h1 = np.maximum(c1 @ p["w1"].T + p["b1"], 0)
        c2 = columns(h1.transpose(0, 3, 1, 2))
        h2 = np.maximum(c2 @ p["w2"].T + p["b2"], 0)
        blocks = h2.reshape(len(x), 4, 2, 4, 2, 32).transpose(0, 1, 3, 5, 2, 4).reshape(len(x), 4, 4, 32, 4)
        best = blocks.argmax(-1)
        pooled = np.take_along_axis(blocks, best[..., None], -1)[..., 0]
        flat = pooled.transpose(0, 3, 1, 2).reshape(len(x), 512)
        return flat @ p["w3"].T + p["b3"], (c1, h1, c2, h2, best, flat)

    def gradients(self, x, labels):
        p = self.p
        logits, (c1, h1, c2, h2, best, flat) = self.forward(x)
        chances = np.exp(logits - logits.max(1, keepdims=True))
        chances /= chances.sum(1, keepdims=True)
        d = chances
        d[np.arange(len(x)), labels] -= 1
        d /= len(x)
        g = {"w3": d.T @ flat, "b3": d.sum(0)}
        d = (d @ p["w3"]).reshape(len(x), 32, 4, 4).transpose(0, 2, 3, 1)
        spread = np.zeros(best.shape + (4,), np.float32)
        np.put_along_axis(spread, best[..., None], d[..., None], -1)
        d = spread.reshape(len(x), 4, 4, 32, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(h2.shape) * (h2 > 0)
        g["w2"] = np.tensordot(d, c2, ((0, 1, 2), (0, 1, 2)))
        g["b2"] = d.sum((0, 1, 2))
        d = scatter(d @ p["w2"], 16).transpose(0, 2, 3, 1) * (h1 > 0)
        g["w1"] = np.tensordot(d, c1, ((0, 1, 2), (0, 1, 2)))
        g["b1"] = d.sum((0, 1, 2))
        return g


def train(images, labels):
    random = np.random.default_rng(SEED)
    net = Net(random)
    speed = {name: np.zeros_like(value) for name, value in net.p.items()}
    for epoch in range(EPOCHS):
        rate = 0.05 * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        order = random.permutation(len(images))
        for at in range(0, len(order), BATCH):
            pick = order[at : at + BATCH]
            for name, grad in net.gradients(images[pick], labels[pick]).items():
                speed[name] = 0.9 * speed[name] - rate * (grad + 1e-4 * net.p[name])
                net.p[name] = (net.p[name] + speed[name]).astype(np.float32)
    return net


def as_onnx(net):
    p = net.p
    weights = {
        "w1": p["w1"].reshape(16, 1, 3, 3), "b1": p["b1"],
        "w2": p["w2"].reshape(32, 16, 3, 3), "b2": p["b2"],
        "w3": p["w3"], "b3": p["b3"],
    }  # fmt: skip
    conv = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
    nodes = [
        helper.make_node("Conv", ["image", "w1", "b1"], ["c1"], "conv1", **conv),
        helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], "conv2", **conv),
        helper.make_node("Relu", ["c2"], ["r2"], "relu2"),
        helper.make_node("MaxPool", ["r2"], ["m"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Flatten", ["m"], ["f"], "flatten", axis=1),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["scores"], "linear", transB=1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def convert(model, path):
    import MNN  # loads the library that _tools needs
    import _tools

    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "digits.onnx")
        onnx.save(model, source)
        _tools.mnnconvert(
            ["mnnconvert", "-f", "ONNX", "--modelFile", source, "--MNNModel", path, "--bizCode", "demo"]
        )


def main():
    data = load_digits()
    images = data.images.astype(np.uint8)  # 0..16
    train_x, test_x, train_y, test_y = train_test_split(
        images, data.target.astype(np.uint8), test_size=0.3, random_state=SEED, stratify=data.target
    )
    net = train(train_x[:, None].astype(np.float32) / 16, train_y.astype(np.int64))
    scores, _ = net.forward(test_x[:, None].astype(np.float32) / 16)
    print(f"{len(train_x)} training images, held-out accuracy {np.mean(scores.argmax(1) == test_y):.4f}")
    test_x.tofile(os.path.join(HERE, "test_images.bin"))
    test_y.tofile(os.path.join(HERE, "test_labels.bin"))
    convert(as_onnx(net), os.path.join(HERE, "digits.mnn"))


if __name__ == "__main__":
    main()
