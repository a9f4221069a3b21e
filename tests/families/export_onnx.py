#!/usr/bin/env python3
"""Writes nets that PyTorch does not export, as ONNX graphs with their inputs and outputs; make_families.py runs it.

usage: export_onnx.py OUTPUT_FOLDER [REGEX]

Needs onnx and onnxruntime, which computes the expected outputs without optimisations.
"""
import json
import os
import re
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


class Graph:
    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def constant(self, value):
        self.constants.append(numpy_helper.from_array(np.asarray(value), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def op(self, kind, *inputs, name=None, **attributes):
        name = name or f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def model(self, shape, output, opset=13):
        graph = helper.make_graph(self.nodes, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                                  [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


class Quantised:
    """Operators in the form of a quantiser for ONNX: pairs of QuantizeLinear and DequantizeLinear, weights as int8."""

    def __init__(self, g):
        self.g = g

    def through(self, x, scale):
        scale, zero = self.g.constant(np.float32(scale)), self.g.constant(np.int8(0))
        return self.g.op("DequantizeLinear", self.g.op("QuantizeLinear", x, scale, zero), scale, zero)

    def weights(self, *shape, axis=0):
        g = self.g
        value = g.constant(g.random.integers(-127, 128, shape).astype(np.int8))
        scale = g.random.uniform(0.5, 1.0, shape[axis]) / (64 * (np.prod(shape) / shape[axis]) ** 0.5)
        return g.op("DequantizeLinear", value, g.constant(scale.astype(np.float32)),
                    g.constant(np.zeros(shape[axis], np.int8)), axis=axis)

    def conv(self, x, inputs, outputs, kernel, stride=1, group=1):
        bias = self.g.constant(self.g.random.uniform(-0.2, 0.2, outputs).astype(np.float32))
        return self.g.op("Conv", x, self.weights(outputs, inputs // group, kernel, kernel), bias,
                         kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[kernel // 2] * 4, group=group)

    def product(self, x, inputs, outputs):
        y = self.g.op("MatMul", x, self.weights(inputs, outputs, axis=1))
        return self.g.op("Add", y, self.g.constant(self.g.random.uniform(-0.2, 0.2, outputs).astype(np.float32)))


def weights_alone(g):
    """A convolutional net whose weights are int8 with a scale for each output channel."""
    q = Quantised(g)
    a = g.op("Relu", q.conv("x", 3, 16, 3, 2))
    b = g.op("Relu", q.conv(a, 16, 16, 3, group=16))
    c = g.op("Relu", q.conv(g.op("Add", a, q.conv(b, 16, 16, 1)), 16, 32, 3, 2))
    c = g.op("Flatten", g.op("GlobalAveragePool", c))
    g.op("Softmax", q.product(c, 32, 10), axis=1, name="scores")
    return "scores", g.random.uniform(-1, 1, (1, 3, 32, 32)).astype(np.float32)


def activations(g):
    """Products whose weights, inputs and outputs are quantised. For pairs of rank 4 the converter writes a file that no
    runtime accepts; pairs of rank 2 it leaves out."""
    q = Quantised(g)
    a = q.through(g.op("Relu", q.product(q.through("x", 1 / 127), 24, 48)), 1 / 64)
    b = q.through(g.op("Tanh", q.product(a, 48, 48)), 1 / 127)
    g.op("Identity", q.product(q.through(g.op("Add", a, b), 1 / 40), 48, 12), name="scores")
    return "scores", g.random.uniform(-1, 1, (6, 24)).astype(np.float32)


NETS = {"quantised/qdq_weights": (weights_alone, 1e-4), "quantised/qdq_products": (activations, 3e-2)}


def main():
    for name, (build, tolerance) in NETS.items():
        if not re.search(sys.argv[2] if len(sys.argv) > 2 else "", name):
            continue
        graph = Graph(len(name))
        output, x = build(graph)
        folder = os.path.join(sys.argv[1], name)
        os.makedirs(folder)
        model = graph.model(list(x.shape), output)
        onnx.save(model, os.path.join(folder, "net.onnx"))
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        np.savez(os.path.join(folder, "run_.npz"), in_x=x, **{"out_" + output: session.run([output], {"x": x})[0]})
        family, short = name.split("/")
        with open(os.path.join(folder, "net.json"), "w", encoding="utf-8") as file:
            json.dump({"family": family, "name": short, "forms": {"": []}, "tolerance": tolerance, "source": "ONNX",
                       "model": "net.onnx", "inputs": ["x"], "outputs": [output], "runs": [""]}, file)


if __name__ == "__main__":
    main()
