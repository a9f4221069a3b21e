#!/usr/bin/env python3
"""Writes TFLite nets with their inputs and outputs; make_families.py runs it.

usage: export_tflite.py OUTPUT_FOLDER [REGEX]

Needs ai-edge-litert, whose own kernels (without delegates) compute the expected outputs.
"""
import json
import os
import re
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from flatbuffers import flexbuffers

OPERATORS, OPTIONS = schema.BuiltinOperator, schema.BuiltinOptions
TYPES = {"float32": schema.TensorType.FLOAT32, "int8": schema.TensorType.INT8, "int32": schema.TensorType.INT32}


class Graph:
    """A graph under construction, tensors NHWC. values: those of the float net, from which the ranges of quantised
    tensors follow."""

    def __init__(self, seed, quantised=False):
        self.random, self.quantised = np.random.default_rng(seed), quantised
        self.tensors, self.buffers, self.ops, self.codes = [], [schema.BufferT()], [], []
        self.scales, self.values = {}, {}

    def tensor(self, shape, kind="float32", data=None, scale=None, zero=0):
        item = schema.TensorT()
        item.name, item.shape, item.type, item.buffer = f"t{len(self.tensors)}", list(shape), TYPES[kind], 0
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            self.buffers.append(buffer)
            item.buffer = len(self.buffers) - 1
        if scale is not None:
            item.quantization = schema.QuantizationParametersT()
            item.quantization.scale = np.atleast_1d(scale).astype(np.float32)
            item.quantization.zeroPoint = np.full(item.quantization.scale.shape, zero, np.int64)
            self.scales[len(self.tensors)] = np.float32(scale)
        self.tensors.append(item)
        return len(self.tensors) - 1

    def op(self, code, inputs, outputs, options=None, custom=None, **fields):
        if (code, custom) not in self.codes:
            self.codes.append((code, custom))
        item = schema.OperatorT()
        item.opcodeIndex, item.inputs, item.outputs = self.codes.index((code, custom)), list(inputs), list(outputs)
        if options:
            item.builtinOptionsType = getattr(OPTIONS, options)
            item.builtinOptions = getattr(schema, options + "T")()
            for name, value in fields.items():
                setattr(item.builtinOptions, name, value)
        elif custom:
            table = flexbuffers.Builder()
            with table.Map():
                for name, value in fields.items():
                    table.Key(name)
                    {bool: table.Bool, int: table.Int, float: table.Float}[type(value)](value)
            item.customOptions = np.frombuffer(bytes(table.Finish()), np.uint8)
        self.ops.append(item)

    def made(self, value):
        """Adds a tensor for these values of the float net: int8 with their range, if the net is quantised."""
        if not self.quantised:
            index = self.tensor(value.shape)
        else:
            low, high = min(float(value.min()), 0.0), max(float(value.max()), 0.0)
            scale = (high - low) / 255
            zero = int(np.clip(round(-128 - low / scale), -128, 127))
            index = self.tensor(value.shape, "int8", scale=scale, zero=zero)
        self.values[index] = value
        return index

    def weights(self, value, bias, axis, source):
        if not self.quantised:
            return self.tensor(value.shape, data=value.astype(np.float32)), \
                self.tensor(bias.shape, data=bias.astype(np.float32))
        others = tuple(i for i in range(value.ndim) if i != axis)
        scale = (np.abs(value).max(others, keepdims=True) if value.ndim > 2 else np.abs(value).max(keepdims=True)) / 127
        index = self.tensor(value.shape, "int8", np.round(value / scale).astype(np.int8), scale.reshape(-1))
        self.tensors[index].quantization.quantizedDimension = axis if scale.size > 1 else 0
        scale = scale.reshape(-1) * self.scales[source]
        return index, self.tensor(bias.shape, "int32", np.round(bias / scale).astype(np.int32), scale)

    def conv(self, x, outputs, kernel, stride=1, depthwise=False, cut=True):
        """A convolution with padding SAME. cut: followed by ReLU6."""
        value = self.values[x]
        inputs = value.shape[3]
        shape = (1, kernel, kernel, inputs) if depthwise else (outputs, kernel, kernel, inputs)
        w = self.random.standard_normal(shape) * (2 / (kernel * kernel * (1 if depthwise else inputs))) ** 0.5
        b = self.random.uniform(-0.3, 0.3, shape[3] if depthwise else outputs)
        result = convolve(value, w, stride, depthwise) + b
        y = self.made(np.clip(result, 0, 6) if cut else result)
        fields = {"padding": schema.Padding.SAME, "strideW": stride, "strideH": stride, "dilationWFactor": 1,
                  "dilationHFactor": 1, "fusedActivationFunction": 3 if cut else 0}
        if depthwise:
            fields["depthMultiplier"] = 1
        self.op(OPERATORS.DEPTHWISE_CONV_2D if depthwise else OPERATORS.CONV_2D,
                [x, *self.weights(w, b, 3 if depthwise else 0, x)], [y],
                "DepthwiseConv2DOptions" if depthwise else "Conv2DOptions", **fields)
        return y

    def bytes(self, inputs, outputs):
        graph = schema.SubGraphT()
        graph.tensors, graph.operators, graph.inputs, graph.outputs = self.tensors, self.ops, inputs, outputs
        graph.name = "main"
        model = schema.ModelT()
        model.version, model.subgraphs, model.buffers, model.description = 3, [graph], self.buffers, "families"
        model.operatorCodes = []
        for code, custom in self.codes:
            item = schema.OperatorCodeT()
            item.builtinCode, item.deprecatedBuiltinCode, item.version = code, min(code, 127), 1
            item.customCode = custom
            model.operatorCodes.append(item)
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def convolve(x, w, stride, depthwise):
    kernel, (height, width) = w.shape[1], x.shape[1:3]
    rows, columns = -(-height // stride), -(-width // stride)
    pads = [max((n - 1) * stride + kernel - m, 0) for n, m in ((rows, height), (columns, width))]
    x = np.pad(x, ((0, 0), *((p // 2, p - p // 2) for p in pads), (0, 0)))
    total = 0.0
    for i in range(kernel):
        for j in range(kernel):
            part = x[:, i:i + (rows - 1) * stride + 1:stride, j:j + (columns - 1) * stride + 1:stride]
            total = total + (part * w[0, i, j] if depthwise else part @ w[:, i, j].T)
    return total


def mobilenet(g):
    """MobileNetV2 in full integers, floats at both ends."""
    x = g.random.uniform(-1, 1, (1, 32, 32, 3)).astype(np.float32)
    start = g.tensor(x.shape)
    a = g.made(x)
    g.op(OPERATORS.QUANTIZE, [start], [a], "QuantizeOptions")
    a = g.conv(a, 16, 3, 2)
    for outputs, stride in ((16, 1), (24, 2), (24, 1), (32, 2)):
        b = g.conv(g.conv(g.conv(a, 3 * outputs, 1), 0, 3, stride, True), outputs, 1, cut=False)
        if g.values[a].shape == g.values[b].shape:
            total = g.made(g.values[a] + g.values[b])
            g.op(OPERATORS.ADD, [a, b], [total], "AddOptions")
            b = total
        a = b
    pooled = g.made(g.values[a].mean((1, 2), keepdims=True))
    axes = g.tensor((2,), "int32", np.array([1, 2], np.int32))
    g.op(OPERATORS.MEAN, [a, axes], [pooled], "ReducerOptions", keepDims=True)
    # FULLY_CONNECTED is avoided: where all channels share one scale, the converter reads one for each, past the end.
    rows = g.conv(pooled, 10, 1, cut=False)
    scores = g.made(g.values[rows].reshape(1, 10))
    g.tensors[scores].quantization = g.tensors[rows].quantization
    g.op(OPERATORS.RESHAPE, [rows, g.tensor((2,), "int32", np.array([1, 10], np.int32))], [scores], "ReshapeOptions",
         newShape=[1, 10])
    end = g.tensor((1, 10))
    g.op(OPERATORS.DEQUANTIZE, [scores], [end], "DequantizeOptions")
    return [start], [end], [x]


def ssd(g):
    """SSD on two maps with the operator that decodes and suppresses."""
    x = g.random.uniform(-1, 1, (1, 32, 32, 3)).astype(np.float32)
    start = g.made(x)
    a = g.conv(g.conv(start, 16, 3, 2), 0, 3, 2, True)
    b = g.conv(g.conv(g.conv(a, 24, 1), 0, 3, 2, True), 24, 1)
    classes, parts, anchors = 4, ([], []), []
    for feature, size in ((a, 0.2), (b, 0.45)):
        side = g.values[feature].shape[1]
        for part, width in zip(parts, (4, classes)):
            head = g.conv(feature, 3 * width, 3, cut=False)
            rows = g.made(g.values[head].reshape(1, -1, width))
            shape = g.tensor((3,), "int32", np.array([1, 3 * side * side, width], np.int32))
            g.op(OPERATORS.RESHAPE, [head, shape], [rows], "ReshapeOptions", newShape=[1, 3 * side * side, width])
            part.append(rows)
        for y in range(side):
            for column in range(side):
                anchors += [((y + 0.5) / side, (column + 0.5) / side, size * h, size / h) for h in (1.0, 0.7, 1.4)]
    joined = []
    for part in parts:
        joined.append(g.made(np.concatenate([g.values[p] for p in part], 1)))
        g.op(OPERATORS.CONCATENATION, part, [joined[-1]], "ConcatenationOptions", axis=1)
    scores = g.made(1 / (1 + np.exp(-g.values[joined[1]])))
    g.op(OPERATORS.LOGISTIC, [joined[1]], [scores])
    rows = g.tensor((len(anchors), 4), data=np.array(anchors, np.float32))
    most = 10
    ends = [g.tensor(s) for s in ((1, most, 4), (1, most), (1, most), (1,))]
    g.op(OPERATORS.CUSTOM, [joined[0], scores, rows], ends, custom="TFLite_Detection_PostProcess", max_detections=most,
         max_classes_per_detection=1, detections_per_class=100, use_regular_nms=False, nms_score_threshold=0.5,
         nms_iou_threshold=0.5, num_classes=classes - 1, y_scale=10.0, x_scale=10.0, h_scale=5.0, w_scale=5.0)
    return [start], ends, [x]


NETS = {"quantised/mobilenet_int8": (mobilenet, True, 7e-2), "ssd/post_process": (ssd, False, 1e-4)}


def main():
    for name, (build, quantised, tolerance) in NETS.items():
        if not re.search(sys.argv[2] if len(sys.argv) > 2 else "", name):
            continue
        graph = Graph(len(name), quantised)
        inputs, outputs, values = build(graph)
        model = graph.bytes(inputs, outputs)
        interpreter = Interpreter(model_content=model,
                                  experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
        interpreter.allocate_tensors()
        for index, value in zip(inputs, values):
            interpreter.set_tensor(index, value)
        interpreter.invoke()
        names = {i: graph.tensors[i].name for i in inputs + outputs}
        arrays = {"in_" + names[i]: value for i, value in zip(inputs, values)}
        arrays.update({"out_" + names[i]: interpreter.get_tensor(i) for i in outputs})
        folder = os.path.join(sys.argv[1], name)
        os.makedirs(folder)
        with open(os.path.join(folder, "net.tflite"), "wb") as file:
            file.write(model)
        np.savez(os.path.join(folder, "run_.npz"), **arrays)
        family, short = name.split("/")
        with open(os.path.join(folder, "net.json"), "w", encoding="utf-8") as file:
            json.dump({"family": family, "name": short, "forms": {"": []}, "tolerance": tolerance, "source": "TFLITE",
                       "model": "net.tflite", "inputs": [names[i] for i in inputs],
                       "outputs": [names[i] for i in outputs], "runs": [""]}, file)


if __name__ == "__main__":
    main()
