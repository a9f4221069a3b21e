#!/usr/bin/env python3
"""Writes training.mnn: a net that classifies digits, with operators that compute its gradients and change its weights.

The net is a convolution, tanh, an average pooling and a fully connected layer, trained by stochastic gradient descent
with momentum. An operator whose output is a constant of the net changes that constant, so each run of the file is one
step of the training.
Needs flatc:  python3 training_net.py
"""
import json
import os
import random
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(HERE, "..", "..", "schema", "mnn.fbs")
BATCH, SIDE, CHANNELS, CLASSES = 32, 8, 8, 10
FEATURES = CHANNELS * (SIDE // 2) ** 2
MOMENTUM = 0.9


class Net:
    def __init__(self):
        self.names, self.ops = [], []

    def tensor(self, name):
        self.names.append(name)
        return len(self.names) - 1

    def node(self, name, kind, inputs, output, table=None, main=None):
        op = {"name": name, "type": kind, "inputIndexes": inputs, "outputIndexes": [output],
              "defaultDimentionFormat": "NCHW"}
        if table:
            op["main_type"], op["main"] = table, main or {}
        self.ops.append(op)
        return output

    def op(self, name, kind, inputs, table=None, main=None):
        return self.node(name, kind, inputs, self.tensor(name), table, main)

    def feed(self, name, dims, kind="DT_FLOAT"):
        return self.op(name, "Input", [], "Input", {"dims": dims, "dtype": kind, "dformat": "NCHW"})

    def const(self, name, dims, values, kind="Const", data="DT_FLOAT", field="float32s"):
        return self.op(name, kind, [], "Blob",
                       {"dims": dims, "dataType": data, "dataFormat": "NCHW", field: values})

    def number(self, name, value):
        return self.const(name, [], [value])

    def ints(self, name, values):
        return self.const(name, [len(values)], values, data="DT_INT32", field="int32s")

    def binary(self, name, kind, a, b):
        return self.op(name, "BinaryOp", [a, b], "BinaryOp", {"opType": kind, "T": "DT_FLOAT"})

    def unary(self, name, kind, x):
        return self.op(name, "UnaryOp", [x], "UnaryOp", {"opType": kind, "T": "DT_FLOAT"})

    def product(self, name, a, b, first=False, second=False):
        return self.op(name, "MatMul", [a, b], "MatMul",
                       {"T": "DT_FLOAT", "transposeA": first, "transposeB": second})

    def total(self, name, x, axes, kind="SUM"):
        return self.op(name, "Reduction", [x], "ReductionParam", {"operation": kind, "dim": axes, "keepDims": False})

    def reshape(self, name, x, dims):
        return self.op(name, "Reshape", [x, self.ints(name + "/shape", dims)], "Reshape", {"dimType": "NCHW"})


def main():
    net, numbers = Net(), random.Random(7)

    def weights(name, dims, spread):
        count = 1
        for extent in dims:
            count *= extent
        values = [round(numbers.gauss(0, spread), 6) for _ in range(count)]
        return net.const(name, dims, values, "TrainableParam"), dims

    images, labels = net.feed("images", [BATCH, 1, SIDE, SIDE]), net.feed("labels", [BATCH], "DT_INT32")
    rate = net.feed("rate", [])
    conv_w, conv_b = weights("conv/weight", [CHANNELS, 1, 3, 3], 0.3), weights("conv/bias", [CHANNELS], 0)
    full_w, full_b = weights("full/weight", [FEATURES, CLASSES], 0.1), weights("full/bias", [CLASSES], 0)
    one = net.number("one", 1.0)

    common = {"padX": 1, "padY": 1, "kernelX": 3, "kernelY": 3, "strideX": 1, "strideY": 1, "dilateX": 1, "dilateY": 1,
              "pads": [1, 1, 1, 1], "group": 1, "inputCount": 1, "outputCount": CHANNELS}
    window = {"kernelX": 2, "kernelY": 2, "strideX": 2, "strideY": 2, "padType": "VALID", "type": "AVEPOOL"}
    sums = net.op("conv", "Convolution", [images, conv_w[0], conv_b[0]], "Convolution2D", {"common": common})
    maps = net.unary("maps", "TANH", sums)
    pooled = net.op("pooled", "Pooling", [maps], "Pool", window)
    features = net.reshape("features", pooled, [-1, FEATURES])
    logits = net.binary("logits", "ADD", net.product("full", features, full_w[0]), full_b[0])
    chances = net.op("probabilities", "Softmax", [logits], "Axis", {"axis": 1})

    depth = net.const("classes", [], [CLASSES], data="DT_INT32", field="int32s")
    wanted = net.op("wanted", "OneHot", [labels, depth, one, net.number("zero", 0.0)], "OneHotParam",
                    {"dType": "DT_FLOAT", "axis": -1})
    likely = net.total("likely", net.binary("picked", "MUL", wanted, net.unary("logs", "LOG", chances)), [1])
    loss = net.unary("loss", "NEG", net.total("likelihood", likely, [0], "MEAN"))

    # The gradient of the loss with respect to the logits; sums over a batch are divided by its size here.
    counted = net.total("count", wanted, [0, 1])
    d_logits = net.binary("d_logits", "REALDIV", net.binary("excess", "SUB", chances, wanted), counted)
    d_features = net.product("d_features", d_logits, full_w[0], second=True)
    d_pooled = net.reshape("d_pooled", d_features, [-1, CHANNELS, SIDE // 2, SIDE // 2])
    d_maps = net.op("d_maps", "PoolGrad", [maps, pooled, d_pooled], "Pool", window)
    slope = net.binary("slope", "SUB", one, net.binary("squares", "MUL", maps, maps))
    d_sums = net.binary("d_conv", "MUL", d_maps, slope)
    gradients = [
        (conv_w, net.op("d_conv/weight", "Conv2DBackPropFilter", [images, d_sums], "Convolution2D", {"common": common})),
        (conv_b, net.total("d_conv/bias", d_sums, [0, 2, 3])),
        (full_w, net.product("d_full/weight", features, d_logits, first=True)),
        (full_b, net.total("d_full/bias", d_logits, [0])),
    ]

    momentum = net.number("momentum", MOMENTUM)
    for (weight, dims), gradient in gradients:
        name, count = net.names[weight], 1
        for extent in dims:
            count *= extent
        speed = net.const(name + "/velocity", dims, [0.0] * count, "TrainableParam")
        slowed = net.binary(name + "/slowed", "MUL", speed, momentum)
        table = ("BinaryOp", {"T": "DT_FLOAT", "opType": "ADD"})
        net.node(name + "/accelerate", "BinaryOp", [slowed, gradient], speed, *table)
        step = net.binary(name + "/step", "MUL", speed, rate)
        table = ("BinaryOp", {"T": "DT_FLOAT", "opType": "SUB"})
        net.node(name + "/update", "BinaryOp", [weight, step], weight, *table)

    model = {"oplists": net.ops, "tensorName": net.names, "outputName": ["loss", "probabilities"], "usage": "TRAIN"}
    with tempfile.TemporaryDirectory(dir=HERE) as folder:
        path = os.path.join(folder, "training.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(model, file)
        subprocess.run(["flatc", "-b", "--strict-json", "-o", folder, SCHEMA, path], check=True, capture_output=True)
        os.replace(os.path.join(folder, "training.bin"), os.path.join(HERE, "training.mnn"))


if __name__ == "__main__":
    main()
