#!/usr/bin/env python3
"""Writes the operator cases: small ONNX nets, converted by the official converter, with expected outputs.

usage: generate.py [--only REGEX] [--report] [OUTPUT_FOLDER]

Needs MNN (the official wheel), onnx, onnxruntime and numpy. See README.md for where the expected values come from.
"""
import argparse
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import case_files

ONNX_TYPES = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
              "bool": TensorProto.BOOL, "uint8": TensorProto.UINT8}
OFFICIAL_BOUND = 2e-3
CASES = []


class Net:
    """A graph under construction. op() and out() take tensor names or numpy arrays (stored as initializers)."""

    def __init__(self, name, opset=17, tolerance=1e-5):
        self.name, self.opset, self.tolerance = name, opset, tolerance
        self.random = np.random.default_rng(zlib.crc32(name.encode()))
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.data, self.graph_shapes, self.as_official = {}, {}, set()
        self.types, self.truth = {}, {}

    def floats(self, *shape, low=-2.0, high=2.0):
        return self.random.uniform(low, high, shape).astype(np.float32)

    def ints(self, *shape, low=-9, high=10):
        return self.random.integers(low, high, shape).astype(np.int32)

    def input(self, value, name=None, shape=None, as_type=None):
        """shape: the declared shape (strings are symbols); as_type: the ONNX type, where it is not the array's."""
        name = name or f"in{len(self.inputs)}"
        value = np.asarray(value)
        self.data[name] = value
        self.graph_shapes[name] = list(value.shape) if shape is None else shape
        self.types[name] = as_type or str(value.dtype)
        self.inputs.append(name)
        return name

    def x(self, *shape, name=None, **limits):
        return self.input(self.floats(*shape, **limits), name)

    def xi(self, *shape, name=None, **limits):
        return self.input(self.ints(*shape, **limits), name)

    def const(self, value):
        value = np.asarray(value)
        if value.dtype == np.float64:
            value = value.astype(np.float32)
        name = f"const{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(value, name))
        return name

    def _name(self, value):
        return value if isinstance(value, str) else self.const(value)

    def op(self, kind, *inputs, count=1, **attributes):
        names = [f"t{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(kind, [self._name(i) for i in inputs], names, **attributes))
        return names[0] if count == 1 else names

    def out(self, name, kind, *inputs, official=False, truth=None, **attributes):
        """One operator whose result is the output `name`. official: the runtime's semantics differ from ONNX's."""
        self.nodes.append(helper.make_node(kind, [self._name(i) for i in inputs], [name], **attributes))
        self.mark(name, official, truth)
        return name

    def outs(self, names, kind, *inputs, official=False, **attributes):
        self.nodes.append(helper.make_node(kind, [self._name(i) for i in inputs], names, **attributes))
        for name in names:
            if name:
                self.mark(name, official)

    def mark(self, name, official=False, truth=None):
        """truth: the expected value, where the converted file computes something else than the ONNX graph."""
        self.outputs.append(name)
        if official:
            self.as_official.add(name)
        if truth is not None:
            self.truth[name] = truth

    def model(self):
        graph = helper.make_graph(
            self.nodes, self.name,
            [helper.make_tensor_value_info(n, ONNX_TYPES[self.types[n]], self.graph_shapes[n]) for n in self.inputs],
            [helper.make_empty_tensor_value_info(n) for n in self.outputs], self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
        model = onnx.shape_inference.infer_shapes(model)
        return model




def cases(name, opset=17, tolerance=1e-5):
    def register(function):
        CASES.append((name, lambda: _built(Net(name, opset, tolerance), function)))
        return function
    return register


def _built(net, function):
    function(net)
    return net


# Convolution ---------------------------------------------------------------------------------------------------------

def finish(n, name, kind, kernel, inputs, **attributes):
    """In one dimension the converter names the rank-4 operator inside like the output: another one must follow."""
    if len(kernel) == 1:
        n.out(name, "Neg", n.op(kind, *inputs, kernel_shape=list(kernel), **attributes))
    else:
        n.out(name, kind, *inputs, kernel_shape=list(kernel), **attributes)


def conv(n, name, x, channels, filters, kernel, group=1, bias=True, scale=None, **attributes):
    fan = channels // group * int(np.prod(kernel))
    weight = (n.random.uniform(-1, 1, (filters, channels // group, *kernel)) / np.sqrt(fan)).astype(np.float32)
    inputs = [x, weight] + ([n.floats(filters, low=-0.5, high=0.5)] if bias else [])
    finish(n, name, "Conv", kernel, inputs, group=group, **attributes)


@cases("conv_1x1")
def _(n):
    x = n.x(2, 13, 7, 5)
    conv(n, "oc1", x, 13, 1, (1, 1))
    conv(n, "oc17", x, 13, 17, (1, 1), bias=False)
    conv(n, "oc24", x, 13, 24, (1, 1))
    conv(n, "stride2", x, 13, 9, (1, 1), strides=[2, 2])
    conv(n, "stride3x2_pad", x, 13, 9, (1, 1), strides=[3, 2], pads=[1, 0, 1, 1])
    conv(n, "group13", x, 13, 13, (1, 1), group=13)


@cases("conv_1x1_single_pixel")
def _(n):
    x = n.x(1, 67, 1, 1)
    conv(n, "oc33", x, 67, 33, (1, 1))
    conv(n, "oc1", x, 67, 1, (1, 1))
    y = n.x(3, 5, 1, 1)
    conv(n, "batch3", y, 5, 7, (1, 1))


@cases("conv_1x1_big")
def _(n):
    conv(n, "oc33", n.x(1, 131, 5, 3), 131, 33, (1, 1))


@cases("conv_3x3")
def _(n):
    x = n.x(2, 3, 11, 9)
    conv(n, "same", x, 3, 10, (3, 3), pads=[1, 1, 1, 1])
    conv(n, "valid", x, 3, 5, (3, 3), bias=False)
    conv(n, "stride2", x, 3, 6, (3, 3), strides=[2, 2], pads=[1, 1, 1, 1])
    conv(n, "asymmetric", x, 3, 7, (3, 3), pads=[0, 1, 2, 0])
    conv(n, "asymmetric_stride2", x, 3, 4, (3, 3), pads=[0, 0, 1, 1], strides=[2, 2])
    conv(n, "dilated2", x, 3, 8, (3, 3), pads=[2, 2, 2, 2], dilations=[2, 2])
    conv(n, "dilated3x1", x, 3, 5, (3, 3), dilations=[3, 1], pads=[1, 0, 0, 2])
    conv(n, "same_upper", x, 3, 5, (3, 3), strides=[2, 2], auto_pad="SAME_UPPER")


@cases("conv_3x3_wide")
def _(n):
    x = n.x(1, 19, 9, 11)
    conv(n, "oc35", x, 19, 35, (3, 3), pads=[1, 1, 1, 1])
    conv(n, "oc4", x, 19, 4, (3, 3))
    conv(n, "oc16_dilated", x, 19, 16, (3, 3), dilations=[2, 3], pads=[2, 3, 2, 3])
    y = n.x(2, 16, 6, 7)
    conv(n, "ic16_oc16", y, 16, 16, (3, 3), pads=[1, 1, 1, 1])


@cases("conv_3x3_big")
def _(n):
    conv(n, "oc21", n.x(1, 37, 9, 10), 37, 21, (3, 3), pads=[1, 1, 1, 1])


@cases("conv_3x3_tiles")
def _(n):
    conv(n, "oc6", n.x(1, 5, 30, 33), 5, 6, (3, 3), pads=[1, 1, 1, 1])


@cases("conv_3x3_tiny_map")
def _(n):
    x = n.x(2, 6, 1, 1)
    conv(n, "one_pixel", x, 6, 5, (3, 3), pads=[1, 1, 1, 1])
    y = n.x(1, 6, 2, 3)
    conv(n, "padded_more_than_map", y, 6, 5, (3, 3), pads=[2, 2, 2, 2])
    conv(n, "stride_over_map", y, 6, 5, (3, 3), pads=[1, 1, 1, 1], strides=[3, 4])


@cases("conv_kernels")
def _(n):
    x = n.x(1, 3, 13, 15)
    conv(n, "k5", x, 3, 6, (5, 5), pads=[2, 2, 2, 2])
    conv(n, "k5_stride2", x, 3, 6, (5, 5), pads=[2, 2, 2, 2], strides=[2, 2])
    conv(n, "k7_stride2", x, 3, 9, (7, 7), pads=[3, 3, 3, 3], strides=[2, 2])
    conv(n, "k1x3", x, 3, 5, (1, 3), pads=[0, 1, 0, 1])
    conv(n, "k3x1", x, 3, 5, (3, 1), pads=[1, 0, 1, 0])
    conv(n, "k2", x, 3, 5, (2, 2))
    conv(n, "k2_stride2", x, 3, 5, (2, 2), strides=[2, 2])
    conv(n, "k4_stride4", x, 3, 5, (4, 4), strides=[4, 4])
    conv(n, "k2x5_dilated", x, 3, 5, (2, 5), dilations=[3, 2], pads=[1, 2, 3, 0])
    conv(n, "whole_map", x, 3, 5, (13, 15))


@cases("conv_activation")
def _(n):
    x = n.x(1, 5, 6, 7)
    conv(n, "plain", x, 5, 6, (3, 3), pads=[1, 1, 1, 1])
    for name, kind, extra in (("relu", "Relu", ()), ("relu6", "Clip", (np.float32(0), np.float32(6))),
                              ("clip", "Clip", (np.float32(-0.25), np.float32(0.5)))):
        weight = n.floats(6, 5, 3, 3, low=-1, high=1)
        n.out(name, kind, n.op("Conv", x, weight, n.floats(6), kernel_shape=[3, 3], pads=[1, 1, 1, 1]), *extra)
    d = n.op("Conv", x, n.floats(5, 1, 3, 3, low=-1, high=1), n.floats(5), kernel_shape=[3, 3], group=5)
    n.out("depthwise_relu", "Relu", d)
    e = n.op("Conv", x, n.floats(9, 5, 1, 1, low=-3, high=3), n.floats(9), kernel_shape=[1, 1])
    n.out("pointwise_relu6", "Clip", e, np.float32(0), np.float32(6))


@cases("conv_group")
def _(n):
    x = n.x(2, 12, 7, 6)
    conv(n, "group2", x, 12, 10, (3, 3), group=2, pads=[1, 1, 1, 1])
    conv(n, "group3", x, 12, 9, (3, 3), group=3, bias=False)
    conv(n, "group4_1x1", x, 12, 20, (1, 1), group=4)
    conv(n, "group6_stride2", x, 12, 6, (3, 3), group=6, strides=[2, 2], pads=[1, 1, 1, 1])
    conv(n, "multiplier2", x, 12, 24, (3, 3), group=12, pads=[1, 1, 1, 1])
    y = n.x(1, 16, 5, 5)
    conv(n, "group2_ic16", y, 16, 16, (3, 3), group=2, pads=[1, 1, 1, 1])
    conv(n, "group4_dilated", y, 16, 8, (3, 3), group=4, dilations=[2, 2], pads=[2, 2, 2, 2])


@cases("conv_depthwise")
def _(n):
    x = n.x(2, 19, 8, 7)
    conv(n, "k3", x, 19, 19, (3, 3), group=19, pads=[1, 1, 1, 1])
    conv(n, "k3_stride2", x, 19, 19, (3, 3), group=19, pads=[1, 1, 1, 1], strides=[2, 2])
    conv(n, "k5", x, 19, 19, (5, 5), group=19, pads=[2, 2, 2, 2])
    conv(n, "k5_stride2", x, 19, 19, (5, 5), group=19, pads=[2, 2, 2, 2], strides=[2, 2], bias=False)
    conv(n, "k3_dilated", x, 19, 19, (3, 3), group=19, pads=[2, 2, 2, 2], dilations=[2, 2])
    conv(n, "k3_asymmetric", x, 19, 19, (3, 3), group=19, pads=[0, 1, 2, 0], strides=[2, 1])
    conv(n, "k7", x, 19, 19, (7, 7), group=19, pads=[3, 3, 3, 3])


@cases("conv_depthwise_small")
def _(n):
    x = n.x(1, 3, 1, 1)
    conv(n, "one_pixel", x, 3, 3, (3, 3), group=3, pads=[1, 1, 1, 1])
    y = n.x(1, 33, 4, 3)
    conv(n, "c33_valid", y, 33, 33, (3, 3), group=33)
    conv(n, "c33_k2", y, 33, 33, (2, 2), group=33, pads=[0, 0, 1, 1])
    conv(n, "c33_whole", y, 33, 33, (4, 3), group=33)
    z = n.x(1, 8, 20, 3)
    conv(n, "narrow", z, 8, 8, (5, 5), group=8, pads=[2, 2, 2, 2])


@cases("conv_1d")
def _(n):
    x = n.x(2, 5, 13)
    conv(n, "k3", x, 5, 7, (3,), pads=[1, 1])
    conv(n, "k5_stride2", x, 5, 7, (5,), pads=[2, 1], strides=[2])
    conv(n, "k1", x, 5, 6, (1,))
    conv(n, "depthwise", x, 5, 5, (3,), pads=[2, 0], group=5)
    conv(n, "dilated", x, 5, 4, (3,), dilations=[3])


@cases("conv_3d")
def _(n):
    x = n.x(1, 3, 5, 6, 7)
    conv(n, "k3", x, 3, 5, (3, 3, 3), pads=[1, 1, 1, 1, 1, 1])
    conv(n, "k123_stride2", x, 3, 4, (1, 2, 3), strides=[2, 2, 2])
    conv(n, "k1", x, 3, 6, (1, 1, 1))


@cases("conv_dynamic_weight")
def _(n):
    x = n.x(1, 5, 6, 7)
    w = n.x(4, 5, 3, 3, name="weight")
    b = n.x(4, name="bias")
    n.out("with_bias", "Conv", x, w, b, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    n.out("no_bias", "Conv", x, w, kernel_shape=[3, 3], strides=[2, 2])


@cases("conv_chain")
def _(n):
    x = n.x(1, 3, 16, 16)
    w = lambda o, i, k: (n.floats(o, i, k, k) / np.sqrt(i * k * k)).astype(np.float32)
    a = n.op("Relu", n.op("Conv", x, w(12, 3, 3), n.floats(12), pads=[1, 1, 1, 1], strides=[2, 2]))
    b = n.op("Conv", a, w(12, 1, 3), n.floats(12), pads=[1, 1, 1, 1], group=12)
    c = n.op("Add", n.op("Conv", b, w(12, 12, 1), n.floats(12)), a)
    d = n.op("Concat", c, n.op("MaxPool", a, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1]), axis=1)
    e = n.op("Relu", n.op("Conv", d, w(7, 24, 3), n.floats(7)))
    n.mark(c)
    n.out("final", "Gemm", n.op("Flatten", n.op("GlobalAveragePool", e)), n.floats(7, 5), n.floats(5))


def convolved(n, channels, *size):
    x = n.x(2, 3, *size)
    return n.op("Conv", x, n.floats(channels, 3, 3, 3, low=-0.4, high=0.4), n.floats(channels), pads=[1, 1, 1, 1])


@cases("layout_movement")
def _(n):
    """Operators that move data, on a packed tensor whose channels do not fill the packs."""
    a, b = convolved(n, 7, 5, 6), convolved(n, 6, 5, 6)
    n.out("concat1", "Concat", a, b, a, axis=1)
    n.out("concat0", "Concat", a, a, axis=0)
    n.out("concat3", "Concat", a, a, axis=3)
    n.outs(["split_0", "split_1", "split_2"], "Split", a, array(1, 4, 2), axis=1)
    n.out("slice", "Slice", a, array(2, 1), array(7, 4), array(1, 2))
    n.out("slice_reverse", "Slice", a, array(-1), array(-100), array(1), array(-2))
    n.out("pad_channel", "Pad", a, array(0, 3, 1, 0, 0, 2, 0, 1), np.float32(0.5))
    n.out("pad_reflect", "Pad", a, array(0, 0, 2, 1, 0, 0, 1, 2), mode="reflect")
    n.out("nhwc", "Transpose", a, perm=[0, 2, 3, 1])
    n.out("swap01", "Transpose", a, perm=[1, 0, 2, 3])
    n.out("reshape", "Reshape", a, array(2, 35, 6))
    n.out("reshape4", "Reshape", b, array(4, 3, 6, 5))
    n.out("flatten", "Flatten", a)
    n.out("gather1", "Gather", a, np.array([6, 0, 5], np.int64), axis=1)
    n.out("gather_scalar", "Gather", a, np.array(4, np.int64), axis=1)
    n.out("tile", "Tile", a, array(1, 2, 1, 1))
    n.out("depth_to_space", "DepthToSpace", convolved(n, 12, 4, 3), blocksize=2)
    n.out("space_to_depth", "SpaceToDepth", convolved(n, 5, 4, 6), blocksize=2)
    n.out("unsqueeze", "Unsqueeze", a, array(2))
    n.out("shuffle", "Reshape", n.op("Transpose", n.op("Reshape", b, array(2, 2, 3, 5, 6)), perm=[0, 2, 1, 3, 4]),
          array(2, 6, 5, 6))


@cases("layout_arithmetic")
def _(n):
    """Operators that compute, on a packed tensor whose channels do not fill the packs."""
    a, b = convolved(n, 7, 5, 6), convolved(n, 7, 5, 6)
    n.out("add", "Add", a, b)
    n.out("mul_channel", "Mul", a, n.floats(7, 1, 1))
    n.out("add_row", "Add", a, n.floats(6))
    n.out("sub_pixel", "Sub", a, n.floats(1, 1, 5, 6))
    n.out("gate", "Mul", a, n.op("Sigmoid", n.op("GlobalAveragePool", b)))
    n.out("gate_plane", "Mul", a, n.op("ReduceMean", b, axes=[1], keepdims=1))
    n.out("compare", "Where", n.op("Greater", a, b), a, b)
    for axis in (0, 1, 2, 3):
        n.out(f"softmax{axis}", "Softmax", a, axis=axis)
        n.out(f"mean{axis}", "ReduceMean", a, axes=[axis], keepdims=0)
        n.out(f"argmax{axis}", "ArgMax", a, axis=axis, keepdims=0)
    n.out("max23", "ReduceMax", a, axes=[2, 3], keepdims=1)
    n.out("sum_all", "ReduceSum", a, keepdims=0)
    n.out("prelu", "PRelu", a, n.floats(7, 1, 1))
    n.out("hard_swish", "HardSwish", a)
    n.out("gelu_free_tanh", "Tanh", a)
    n.out("instance", "InstanceNormalization", a, n.floats(7), n.floats(7), epsilon=1e-5)
    n.out("scale", "BatchNormalization", n.op("Relu", a), n.floats(7), n.floats(7), n.floats(7),
          n.floats(7, low=0.3, high=2), epsilon=1e-4)
    n.out("lrn", "LRN", a, size=3, alpha=0.5, beta=0.75, bias=1.0)
    n.out("nearest", "Resize", a, "", np.array([1, 1, 2, 2], np.float32), mode="nearest",
          coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    n.out("linear", "Resize", a, "", "", array(2, 7, 8, 3), mode="linear")
    n.out("matmul", "MatMul", a, n.floats(6, 4))
    n.out("cumsum", "CumSum", a, np.array(1, np.int32))
    n.out("average", "AveragePool", a, kernel_shape=[2, 2], strides=[2, 2])
    n.outs(["top_values", "top_index"], "TopK", a, array(3), axis=1)


@cases("layout_integer")
def _(n):
    """Integers and truth values made from packed tensors."""
    a, b = convolved(n, 7, 5, 6), convolved(n, 5, 5, 6)
    i = n.op("Cast", n.op("Mul", a, np.float32(5)), to=TensorProto.INT32)
    k = n.op("Cast", n.op("Mul", b, np.float32(5)), to=TensorProto.INT32)
    n.out("concat", "Concat", i, k, axis=1)
    n.out("slice", "Slice", i, array(2), array(6), array(1))
    n.out("nhwc", "Transpose", i, perm=[0, 2, 3, 1])
    n.out("pad", "Pad", i, array(0, 1, 0, 2, 0, 2, 1, 0), np.int32(3))
    n.out("max1", "ReduceMax", i, axes=[1], keepdims=0)
    n.out("sum23", "ReduceSum", i, array(2, 3), keepdims=1)
    n.out("add_channel", "Add", i, n.ints(7, 1, 1))
    n.out("abs", "Abs", i)
    n.out("gather", "Gather", i, np.array([5, 1], np.int64), axis=1)
    n.out("flatten", "Flatten", i)
    n.out("back", "Mul", n.op("Cast", i, to=TensorProto.FLOAT), a)
    mask = n.op("Less", a, n.floats(7, 1, 1, low=-0.3, high=0.3))
    n.out("not", "Not", mask)
    n.out("both", "And", mask, n.op("Greater", a, np.float32(-0.5)))
    n.out("mask_float", "Mul", n.op("Cast", mask, to=TensorProto.FLOAT), a)
    n.out("where_channel", "Where", mask, a, n.floats(7, 1, 1))
    n.out("where_int", "Where", mask, i, n.ints(1, low=3, high=9))
    n.out("equal_scalar", "Equal", i, np.int32(1))
    n.out("compare_pooled", "Greater", a, n.op("GlobalAveragePool", a))


@cases("layout_mixed")
def _(n):
    """Packed and plain tensors of the same shape together."""
    a, x = convolved(n, 7, 5, 6), n.x(2, 7, 5, 6)
    n.out("add", "Add", a, x)
    n.out("sub", "Sub", x, a)
    n.out("concat", "Concat", x, a, axis=1)
    n.out("compare", "GreaterOrEqual", x, a)
    n.out("channel_first", "Mul", n.x(1, 7, 1, 1), a)
    n.out("rank3", "Add", a, n.x(7, 5, 6))
    n.out("rank5", "Add", a, n.x(2, 1, 7, 5, 6))
    n.out("pooled_plain", "Mul", x, n.op("GlobalMaxPool", a))
    n.out("vector", "Add", n.op("Flatten", n.op("GlobalAveragePool", a)), n.floats(7))
    n.out("twice", "Conv", n.op("Concat", x, a, axis=1), n.floats(3, 14, 1, 1), n.floats(3))
    n.out("transposed_conv", "Conv", n.op("Transpose", a, perm=[0, 2, 1, 3]), n.floats(4, 5, 3, 3), n.floats(4))
    n.out("normalised", "LayerNormalization", n.op("Transpose", a, perm=[0, 2, 3, 1]), n.floats(7), n.floats(7))
    n.out("tokens", "MatMul", n.op("Transpose", n.op("Reshape", a, array(2, 7, 30)), perm=[0, 2, 1]), n.floats(7, 5))
    n.out("attention", "Softmax", n.op("MatMul", a, n.op("Transpose", a, perm=[0, 1, 3, 2])), axis=-1)


@cases("if_conv")
def _(n):
    """A convolution in each branch and one behind."""
    a = convolved(n, 7, 5, 6)
    w = numpy_helper.from_array(n.floats(5, 7, 1, 1), "w_then")
    v = numpy_helper.from_array(n.floats(5, 7, 3, 3), "w_else")
    then = branch("then", "then_out", [helper.make_node("Conv", [a, "w_then"], ["then_out"])], [w])
    other = branch("else", "else_out", [helper.make_node("Conv", [a, "w_else"], ["else_out"], pads=[1, 1, 1, 1])], [v])
    for name, bound in (("then", -1e6), ("else", 1e6)):
        condition = n.op("Greater", n.op("ReduceSum", a, keepdims=0), np.float32(bound))
        picked = n.op("If", condition, then_branch=then, else_branch=other)
        n.out(f"y_{name}", "Conv", n.op("Relu", picked), n.floats(3, 5, 3, 3), n.floats(3))


# Transposed convolution ----------------------------------------------------------------------------------------------

def deconv(n, name, x, channels, filters, kernel, group=1, bias=True, **attributes):
    weight = n.floats(channels, filters // group, *kernel, low=-1, high=1)
    inputs = [x, weight] + ([n.floats(filters)] if bias else [])
    finish(n, name, "ConvTranspose", kernel, inputs, group=group, **attributes)


@cases("deconv_basic")
def _(n):
    x = n.x(2, 5, 6, 4)
    deconv(n, "k3", x, 5, 7, (3, 3))
    deconv(n, "k2_stride2", x, 5, 9, (2, 2), strides=[2, 2], bias=False)
    deconv(n, "k4_stride2_pad1", x, 5, 6, (4, 4), strides=[2, 2], pads=[1, 1, 1, 1])
    deconv(n, "output_padding", x, 5, 6, (3, 3), strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    deconv(n, "asymmetric", x, 5, 6, (3, 4), strides=[2, 3], pads=[1, 0, 0, 2])
    deconv(n, "dilated", x, 5, 6, (3, 3), dilations=[2, 2], pads=[1, 1, 1, 1])
    deconv(n, "k1_stride3", x, 5, 6, (1, 1), strides=[3, 3])
    deconv(n, "stride_over_kernel", x, 5, 3, (2, 2), strides=[3, 3], output_padding=[1, 0])


@cases("deconv_group")
def _(n):
    x = n.x(1, 12, 5, 6)
    deconv(n, "group2", x, 12, 10, (3, 3), group=2, strides=[2, 2], pads=[1, 1, 1, 1])
    deconv(n, "group3", x, 12, 6, (2, 2), group=3, strides=[2, 2])
    deconv(n, "depthwise", x, 12, 12, (3, 3), group=12, strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    deconv(n, "depthwise_k4", x, 12, 12, (4, 4), group=12, strides=[2, 2], pads=[1, 1, 1, 1], bias=False)
    y = n.x(2, 5, 3, 3)
    deconv(n, "depthwise_c5", y, 5, 5, (3, 3), group=5)
    z = n.x(1, 33, 3, 4)
    deconv(n, "ic33_oc18", z, 33, 18, (2, 2), strides=[2, 2])


@cases("deconv_1d")
def _(n):
    x = n.x(2, 5, 9)
    deconv(n, "k4_stride2", x, 5, 3, (4,), strides=[2], pads=[1, 1])


# Pooling -------------------------------------------------------------------------------------------------------------

@cases("pool_max")
def _(n):
    x = n.x(2, 7, 11, 9)
    for name, attributes in {
            "k2_stride2": dict(kernel_shape=[2, 2], strides=[2, 2]),
            "k3_stride2_pad1": dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
            "k3_stride1": dict(kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1]),
            "ceil": dict(kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
            "ceil_k3": dict(kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
            "asymmetric": dict(kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1]),
            "asymmetric_begin": dict(kernel_shape=[3, 2], strides=[1, 2], pads=[1, 1, 0, 0]),
            "k1x3": dict(kernel_shape=[1, 3], strides=[1, 1]),
            "k5_stride3": dict(kernel_shape=[5, 5], strides=[3, 3], pads=[2, 2, 2, 2]),
            "same_upper": dict(kernel_shape=[3, 3], strides=[2, 2], auto_pad="SAME_UPPER")}.items():
        n.out(name, "MaxPool", x, **attributes)
    n.out("global", "GlobalMaxPool", x)


@cases("pool_average")
def _(n):
    x = n.x(2, 7, 11, 9)
    for name, attributes in {
            "k2_stride2": dict(kernel_shape=[2, 2], strides=[2, 2]),
            "k3_pad1": dict(kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1]),
            "k3_stride2_pad1_include": dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1],
                                            count_include_pad=1),
            "ceil": dict(kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
            "k3_ceil_pad1": dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1),
            "asymmetric": dict(kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1]),
            "k2x3": dict(kernel_shape=[2, 3], strides=[1, 2])}.items():
        n.out(name, "AveragePool", x, **attributes)
    n.out("global", "GlobalAveragePool", x)


@cases("pool_single")
def _(n):
    x = n.x(1, 1, 3, 3)
    n.out("max_ceil", "MaxPool", x, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)
    n.out("max_whole", "MaxPool", x, kernel_shape=[3, 3], strides=[1, 1])
    n.out("average_whole", "AveragePool", x, kernel_shape=[3, 3], strides=[1, 1])
    y = n.x(3, 34, 1, 1)
    n.out("max_1x1", "MaxPool", y, kernel_shape=[1, 1], strides=[1, 1])
    n.out("global_1x1", "GlobalAveragePool", y)


@cases("pool_1d_3d")
def _(n):
    x = n.x(2, 5, 13)
    n.out("max_1d", "MaxPool", x, kernel_shape=[3], strides=[2], pads=[1, 1])
    n.out("average_1d", "AveragePool", x, kernel_shape=[2], strides=[2])
    n.out("global_1d", "GlobalAveragePool", x)
    y = n.x(1, 3, 4, 5, 6)
    n.out("max_3d", "MaxPool", y, kernel_shape=[2, 2, 2], strides=[2, 2, 2])
    n.out("average_3d", "AveragePool", y, kernel_shape=[2, 2, 2], strides=[1, 2, 2])


# Unary ---------------------------------------------------------------------------------------------------------------

def unary(n, x, kinds):
    for kind in kinds:
        n.out(kind.lower(), kind, x)


@cases("unary_any")
def _(n):
    x = n.x(2, 5, 3, 7, low=-4, high=4)
    unary(n, x, ["Abs", "Neg", "Floor", "Ceil", "Exp", "Sin", "Cos", "Atan", "Sinh", "Cosh", "Asinh", "Sign", "Round",
                 "Erf", "Sigmoid", "Tanh", "Softplus", "Softsign", "Relu", "HardSwish", "HardSigmoid", "Elu", "Selu",
                 "LeakyRelu", "Identity"])


@cases("unary_limited")
def _(n):
    p = n.x(3, 37, low=0.05, high=9)
    unary(n, p, ["Sqrt", "Log", "Reciprocal"])
    n.out("rsqrt", "Reciprocal", n.op("Sqrt", p))
    n.out("acosh", "Acosh", n.op("Add", p, np.float32(1)))
    u = n.x(3, 37, low=-0.95, high=0.95)
    unary(n, u, ["Asin", "Acos", "Atanh", "Tan"])
    n.out("square", "Mul", u, u)
    n.out("silu", "Mul", u, n.op("Sigmoid", u))


@cases("unary_large_values")
def _(n):
    x = n.x(1, 41, low=-30, high=30)
    unary(n, x, ["Sigmoid", "Tanh", "Erf", "HardSwish", "Softsign", "Elu", "Selu", "Softplus"])
    n.out("exp_small", "Exp", n.op("Mul", x, np.float32(0.5)))
    n.out("silu", "Mul", x, n.op("Sigmoid", x))


@cases("unary_scalar")
def _(n):
    x = n.input(np.array(1.25, np.float32))
    unary(n, x, ["Exp", "Tanh", "Neg"])
    y = n.x(1)
    n.out("sqrt_of_square", "Sqrt", n.op("Mul", y, y))


@cases("unary_int")
def _(n):
    x = n.xi(3, 7)
    unary(n, x, ["Abs", "Neg", "Sign"])


@cases("unary_int_relu")
def _(n):
    n.out("relu", "Relu", n.xi(3, 7))


@cases("activation_parameters")
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


@cases("prelu_shapes")
def _(n):
    x = n.x(2, 35, 3, low=-2, high=2)
    n.out("rank3_channel", "PRelu", x, n.floats(35, 1))
    y = n.x(4, 7)
    n.out("rank2", "PRelu", y, n.floats(7))


@cases("clip_dynamic_bounds")
def _(n):
    x = n.x(2, 3, 5)
    low, high = n.input(np.array(-0.75, np.float32), "low"), n.input(np.array(0.5, np.float32), "high")
    n.out("both", "Clip", x, low, high)
    n.out("int", "Clip", n.xi(3, 5), np.int32(-4), np.int32(5))


@cases("gelu", opset=20)
def _(n):
    """The converter writes the same code (GELU) for the erf form and for the tanh form: the erf form is meant."""
    x = n.x(2, 5, 9, low=-5, high=5)
    n.out("erf_form", "Gelu", x)
    half = n.op("Mul", x, n.op("Add", n.op("Erf", n.op("Div", x, np.float32(np.sqrt(2)))), np.float32(1)))
    n.out("erf_pattern", "Mul", half, np.float32(0.5))


@cases("gelu_tanh", opset=20, tolerance=2e-4)
def _(n):
    """The file does not tell it from the erf form, so the distance of the two is allowed."""
    n.out("tanh_form", "Gelu", n.x(2, 5, 9, low=-5, high=5), approximate="tanh")


# Binary --------------------------------------------------------------------------------------------------------------

BROADCASTS = {"same": ((2, 5, 3, 5), (2, 5, 3, 5)), "channel": ((2, 5, 3, 7), (5, 1, 1)),
              "scalar": ((2, 5, 3, 7), ()), "row": ((2, 5, 3, 7), (7,)), "plane": ((2, 5, 3, 7), (3, 7)),
              "batch": ((2, 5, 3, 7), (2, 1, 1, 1)), "mutual": ((2, 1, 3, 1), (5, 1, 7)), "column": ((4, 9), (4, 1)),
              "rank3_1": ((3, 1, 6), (1, 5, 1)), "rank5": ((2, 3, 1, 2, 3), (3, 2, 1, 3)),
              "scalar_left": ((), (3, 5)), "one_left": ((1,), (2, 3, 4)), "middle": ((2, 17, 3, 2), (1, 17, 1, 2))}


def binary(n, kinds, make):
    for shapes, (a, b) in BROADCASTS.items():
        if shapes.startswith(("batch", "rank5", "one_left", "middle")) and len(kinds) > 2:
            continue
        left, right = n.input(make(*a), f"a_{shapes}"), n.input(make(*b), f"b_{shapes}")
        for kind in kinds:
            n.out(f"{kind.lower()}_{shapes}", kind, left, right)


@cases("binary_add_mul")
def _(n):
    binary(n, ["Add", "Mul"], n.floats)


@cases("binary_sub_div")
def _(n):
    sign = lambda *s: (n.floats(*s, low=0.4, high=2) * n.random.choice([-1, 1], s)).astype(np.float32)
    binary(n, ["Sub", "Div"], sign)


@cases("binary_pow_min_max")
def _(n):
    binary(n, ["Pow", "Min", "Max"], lambda *s: n.floats(*s, low=0.3, high=2.5))


@cases("binary_compare")
def _(n):
    binary(n, ["Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"],
           lambda *s: n.random.integers(-2, 3, s).astype(np.float32))


@cases("binary_int_arithmetic")
def _(n):
    nonzero = lambda *s: (n.random.integers(1, 9, s) * n.random.choice([-1, 1], s)).astype(np.int32)
    binary(n, ["Add", "Sub", "Mul"], nonzero)


@cases("binary_int_compare")
def _(n):
    binary(n, ["Equal", "Less", "Greater"], lambda *s: n.ints(*s, low=-2, high=3))


@cases("binary_int_divide")
def _(n):
    a = n.input(n.ints(4, 9, low=-40, high=41), "a")
    b = n.input((n.random.integers(1, 9, (4, 9)) * n.random.choice([-1, 1], (4, 9))).astype(np.int32), "b")
    n.out("div", "Div", a, b)
    n.out("div_constant", "Div", a, np.array(4, np.int32))
    n.out("mod", "Mod", a, b)
    n.out("min", "Min", a, b)
    n.out("max", "Max", a, b)
    n.out("fmod", "Mod", n.x(4, 9, low=-9, high=9), n.floats(9, low=1, high=3), fmod=1, official=True)


@cases("binary_logical")
def _(n):
    a = n.op("Greater", n.x(3, 1, 7, name="a"), np.float32(0))
    b = n.op("Less", n.x(5, 7, name="b"), np.float32(0.3))
    for kind in ("And", "Or", "Xor"):
        n.out(kind.lower(), kind, a, b)
    n.out("not", "Not", a)


@cases("binary_constant")
def _(n):
    x = n.x(2, 6, 3, 5)
    n.out("add_channel", "Add", x, n.floats(1, 6, 1, 1))
    n.out("mul_channel", "Mul", x, n.floats(6, 1, 1))
    n.out("sub_from_one", "Sub", np.float32(1), x)
    n.out("div_by_row", "Div", x, n.floats(5, low=1, high=2))
    n.out("div_into", "Div", np.float32(2), n.op("Add", n.op("Abs", x), np.float32(0.5)))
    n.out("pow2", "Pow", x, np.float32(2))
    n.out("pow3", "Pow", x, np.float32(3))
    n.out("pow_half", "Pow", n.op("Abs", x), np.float32(0.5))
    n.out("max_zero", "Max", x, np.float32(0))
    y, z = n.x(2, 6, 3, 5), n.x(2, 6, 3, 5)
    n.out("sum3", "Sum", x, y, z)
    n.out("mean3", "Mean", x, y, z)
    n.out("max3", "Max", x, y, z)


@cases("binary_long")
def _(n):
    a, b = n.x(1, 1001, name="a"), n.x(1, 1001, name="b")
    n.out("add_relu", "Relu", n.op("Add", a, b))
    n.out("squared_difference", "Mul", n.op("Sub", a, b), n.op("Sub", a, b))


# Reductions ----------------------------------------------------------------------------------------------------------

@cases("reduce_float")
def _(n):
    x = n.x(3, 5, 4, 7, low=0.2, high=1.8)
    for kind in ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum",
                 "ReduceLogSumExp", "ReduceSumSquare"):
        n.out(f"{kind[6:].lower()}_1", kind, x, axes=[1], keepdims=1)
        n.out(f"{kind[6:].lower()}_last", kind, x, axes=[-1], keepdims=0)
        n.out(f"{kind[6:].lower()}_23", kind, x, axes=[2, 3], keepdims=0)
    for name, axes in {"1": [1], "last": [-1], "23": [2, 3], "02": [0, 2], "0": [0]}.items():
        n.out(f"sum_{name}", "ReduceSum", x, np.array(axes, np.int64), keepdims=0)
        n.out(f"sum_{name}_keep", "ReduceSum", x, np.array(axes, np.int64), keepdims=1)


@cases("reduce_all_axes")
def _(n):
    x = n.x(3, 4, 5)
    n.out("sum", "ReduceSum", x, keepdims=0)
    n.out("mean_keep", "ReduceMean", x, keepdims=1)
    n.out("max", "ReduceMax", x, keepdims=0)
    n.out("min_02", "ReduceMin", x, axes=[0, 2], keepdims=0)
    n.out("mean_012", "ReduceMean", x, axes=[0, 1, 2], keepdims=0)
    n.out("max_one", "ReduceMax", n.x(1, 6, 1), axes=[0, 2], keepdims=0)
    n.out("mean_long", "ReduceMean", n.x(2, 2503), axes=[1], keepdims=1)


@cases("reduce_int")
def _(n):
    x = n.xi(3, 5, 4, low=-5, high=6)
    n.out("sum", "ReduceSum", x, np.array([1], np.int64), keepdims=0)
    n.out("max", "ReduceMax", x, axes=[2], keepdims=1)
    n.out("min", "ReduceMin", x, axes=[0], keepdims=0)
    n.out("prod", "ReduceProd", x, axes=[2], keepdims=0)
    n.out("sum_all", "ReduceSum", x, keepdims=0)


# Softmax and norms ---------------------------------------------------------------------------------------------------

@cases("softmax_axes")
def _(n):
    x = n.x(2, 5, 3, 7, low=-6, high=6)
    for axis in (0, 1, 2, 3, -1):
        n.out(f"axis{axis}".replace("-", "m"), "Softmax", x, axis=axis)
        n.out(f"log_axis{axis}".replace("-", "m"), "LogSoftmax", x, axis=axis)
    y = n.x(3, 33, low=-40, high=40)
    n.out("rank2", "Softmax", y, axis=1)
    n.out("rank2_axis0", "Softmax", y, axis=0)
    n.out("rank1", "Softmax", n.x(11), axis=0)
    n.out("rank3_mid", "Softmax", n.x(2, 9, 5), axis=1)
    n.out("size1", "Softmax", n.x(4, 1), axis=1)
    n.out("shifted", "Softmax", n.x(2, 6, low=900, high=903), axis=1)


@cases("softmax_flattening", opset=11)
def _(n):
    x = n.x(2, 3, 5)
    n.out("default", "Softmax", n.x(3, 10))
    n.out("last", "Softmax", x, axis=2)


@cases("layer_norm")
def _(n):
    x = n.x(2, 5, 19)
    n.out("last", "LayerNormalization", x, n.floats(19), n.floats(19), axis=-1, epsilon=1e-5)
    n.out("last_no_bias", "LayerNormalization", x, n.floats(19), axis=-1)
    n.out("two_axes", "LayerNormalization", x, n.floats(5, 19), n.floats(5, 19), axis=1)


@cases("layer_norm_pattern")
def _(n):
    x = n.x(2, 5, 24, low=-3, high=5)

    def norm(axes):
        centred = n.op("Sub", x, n.op("ReduceMean", x, axes=axes, keepdims=1))
        variance = n.op("ReduceMean", n.op("Pow", centred, np.float32(2)), axes=axes, keepdims=1)
        return n.op("Div", centred, n.op("Sqrt", n.op("Add", variance, np.float32(1e-5))))

    n.out("affine", "Add", n.op("Mul", norm([-1]), n.floats(24)), n.floats(24))
    n.out("plain_axis1", "Identity", norm([1]))
    square = n.op("ReduceMean", n.op("Pow", x, np.float32(2)), axes=[-1], keepdims=1)
    rms = n.op("Mul", x, n.op("Div", np.float32(1), n.op("Sqrt", n.op("Add", square, np.float32(1e-6)))))
    n.out("rms", "Mul", n.floats(24), rms)


@cases("norm_channel")
def _(n):
    x = n.x(2, 7, 5, 6, low=-1, high=3)
    n.out("batch", "BatchNormalization", x, n.floats(7), n.floats(7), n.floats(7), n.floats(7, low=0.2, high=2),
          epsilon=1e-3)
    n.out("instance", "InstanceNormalization", x, n.floats(7), n.floats(7), epsilon=1e-4)
    n.out("batch_rank2", "BatchNormalization", n.x(3, 9), n.floats(9), n.floats(9), n.floats(9),
          n.floats(9, low=0.2, high=2), epsilon=1e-5)
    n.out("batch_rank3", "BatchNormalization", n.x(2, 9, 4), n.floats(9), n.floats(9), n.floats(9),
          n.floats(9, low=0.2, high=2), epsilon=1e-5)
    n.out("instance_rank3", "InstanceNormalization", n.x(2, 5, 11), n.floats(5), n.floats(5), epsilon=1e-5)


@cases("norm_group")
def _(n):
    x = n.x(2, 6, 3, 4)
    flat = n.op("Reshape", x, np.array([0, 3, -1], np.int64))
    norm = n.op("InstanceNormalization", flat, np.ones(3, np.float32), np.zeros(3, np.float32), epsilon=1e-5)
    back = n.op("Reshape", norm, n.op("Shape", x))
    n.out("group3", "Add", n.op("Mul", back, n.floats(6, 1, 1)), n.floats(6, 1, 1))


@cases("lrn")
def _(n):
    x = n.x(2, 7, 3, 5)
    n.out("size5", "LRN", x, size=5, alpha=1e-1, beta=0.75, bias=1.0)
    n.out("size3", "LRN", x, size=3, alpha=0.5, beta=0.5, bias=2.0)


@cases("lp_norm")
def _(n):
    x = n.x(2, 7, 3)
    n.out("l2_axis1", "LpNormalization", x, axis=1, p=2)
    n.out("l2_pattern", "Div", x, n.op("ReduceL2", x, axes=[-1], keepdims=1))


# Matrix products -----------------------------------------------------------------------------------------------------

@cases("matmul_dynamic", tolerance=1e-5)
def _(n):
    for name, a, b in (("2d", (5, 7), (7, 3)), ("2d_odd", (17, 33), (33, 19)), ("row", (1, 9), (9, 6)),
                       ("column", (6, 9), (9, 1)), ("batched", (2, 3, 5, 4), (2, 3, 4, 6)),
                       ("batch_broadcast", (2, 1, 5, 4), (3, 4, 6)), ("rank3_2d", (3, 5, 4), (4, 6)),
                       ("2d_rank3", (5, 4), (3, 4, 6)), ("one", (1, 1), (1, 1)), ("outer", (7, 1), (1, 5)),
                       ("vector_matrix", (7,), (7, 3)), ("matrix_vector", (5, 7), (7,)),
                       ("batch_vector", (2, 5, 7), (7,))):
        n.out(name, "MatMul", n.x(*a, name=f"a_{name}"), n.x(*b, name=f"b_{name}"))
    a, b = n.x(2, 6, 5, name="at"), n.x(2, 7, 5, name="bt")
    n.out("transposed_right", "MatMul", a, n.op("Transpose", b, perm=[0, 2, 1]))
    n.out("transposed_left", "MatMul", n.op("Transpose", a, perm=[0, 2, 1]), n.x(2, 6, 4, name="ct"))


@cases("matmul_vectors")
def _(n):
    """The official runtime crashes here; its shape rule gives [1], not a scalar."""
    a, b = n.x(9), n.x(9)
    dot = n.data[a].astype(np.float64) @ n.data[b].astype(np.float64)
    n.out("dot", "MatMul", a, b, truth=np.array([dot]))


@cases("matmul_wide")
def _(n):
    n.out("tall", "MatMul", n.x(35, 65), n.x(65, 37))
    n.out("deep", "MatMul", n.x(3, 515), n.x(515, 5))
    n.out("batch", "MatMul", n.x(2, 1, 18, 21), n.x(2, 1, 21, 17))


@cases("matmul_constant")
def _(n):
    x = n.x(3, 4, 17)
    n.out("rank3", "MatMul", x, n.floats(17, 9))
    n.out("rank3_bias", "Add", n.op("MatMul", x, n.floats(17, 5)), n.floats(5))
    n.out("left_constant", "MatMul", n.floats(6, 4), x)
    n.out("batched_constant", "MatMul", x, n.floats(3, 17, 2))
    n.out("rank2", "MatMul", n.x(1, 65), n.floats(65, 31))


@cases("gemm")
def _(n):
    x = n.x(5, 13)
    n.out("plain", "Gemm", x, n.floats(13, 7), n.floats(7))
    n.out("trans_b", "Gemm", x, n.floats(7, 13), n.floats(7), transB=1)
    n.out("alpha_beta", "Gemm", x, n.floats(7, 13), n.floats(7), transB=1, alpha=0.5, beta=2.0)
    n.out("no_bias", "Gemm", x, n.floats(13, 4))
    y = n.x(13, 5)
    n.out("trans_a", "Gemm", y, n.x(13, 6, name="wa"), n.x(6, name="ba"), transA=1)
    w, b = n.x(13, 3, name="w"), n.x(5, 3, name="b")
    n.out("dynamic", "Gemm", x, w, b)
    n.out("dynamic_trans", "Gemm", x, n.x(3, 13, name="wt"), n.x(3, name="bt"), transB=1, alpha=1.5)


@cases("einsum")
def _(n):
    a, b = n.x(2, 3, 4, 5), n.x(2, 3, 6, 5)
    n.out("attention", "Einsum", a, b, equation="bhqd,bhkd->bhqk")
    n.out("transpose", "Einsum", a, equation="abcd->dcba")
    n.out("sum", "Einsum", a, equation="abcd->ac")


# Resize --------------------------------------------------------------------------------------------------------------

def resize(n, name, x, scales=None, sizes=None, official=False, **attributes):
    empty = np.array([], np.float32)
    if scales is not None:
        n.out(name, "Resize", x, "", np.array(scales, np.float32), official=official, **attributes)
    else:
        n.out(name, "Resize", x, "", "", np.array(sizes, np.int64), official=official, **attributes)


@cases("resize_nearest")
def _(n):
    x = n.x(2, 5, 4, 6)
    floor = dict(mode="nearest", nearest_mode="floor")
    resize(n, "x2", x, scales=[1, 1, 2, 2], coordinate_transformation_mode="asymmetric", **floor)
    resize(n, "x3_half_pixel", x, scales=[1, 1, 3, 3], mode="nearest",
           coordinate_transformation_mode="half_pixel", nearest_mode="round_prefer_floor", official=True)
    resize(n, "down", x, sizes=[2, 5, 2, 3], coordinate_transformation_mode="asymmetric", **floor)
    resize(n, "odd", x, sizes=[2, 5, 7, 11], coordinate_transformation_mode="asymmetric", official=True, **floor)
    resize(n, "align", x, sizes=[2, 5, 7, 11], coordinate_transformation_mode="align_corners", official=True, **floor)


@cases("resize_linear")
def _(n):
    x = n.x(2, 5, 4, 6)
    for mode in ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"):
        resize(n, f"x2_{mode}", x, scales=[1, 1, 2, 2], mode="linear", coordinate_transformation_mode=mode)
        resize(n, f"odd_{mode}", x, sizes=[2, 5, 7, 9], mode="linear", coordinate_transformation_mode=mode)
        resize(n, f"down_{mode}", x, sizes=[2, 5, 3, 2], mode="linear", coordinate_transformation_mode=mode)
    y = n.x(1, 3, 1, 1)
    resize(n, "from_1x1", y, sizes=[1, 3, 3, 4], mode="linear", coordinate_transformation_mode="align_corners")


@cases("resize_cubic")
def _(n):
    x = n.x(1, 5, 5, 6)
    for mode in ("half_pixel", "align_corners", "asymmetric"):
        resize(n, f"x2_{mode}", x, scales=[1, 1, 2, 2], mode="cubic", coordinate_transformation_mode=mode,
               cubic_coeff_a=-0.75, official=True)
        resize(n, f"odd_{mode}", x, sizes=[1, 5, 7, 3], mode="cubic", coordinate_transformation_mode=mode,
               cubic_coeff_a=-0.75, official=True)


@cases("upsample", opset=9)
def _(n):
    x = n.x(1, 6, 3, 4)
    n.out("nearest", "Upsample", x, np.array([1, 1, 2, 3], np.float32), mode="nearest")
    n.out("linear", "Upsample", x, np.array([1, 1, 2, 2], np.float32), mode="linear", official=True)


@cases("grid_sample", opset=16)
def _(n):
    x, grid = n.x(2, 5, 4, 6), n.x(2, 3, 5, 2, name="grid", low=-1.2, high=1.2)
    for mode in ("bilinear", "nearest"):
        for padding in ("zeros", "border"):
            for align in (0, 1):
                n.out(f"{mode}_{padding}_{align}", "GridSample", x, grid, mode=mode, padding_mode=padding,
                      align_corners=align)


@cases("roi_align", opset=16)
def _(n):
    x = n.x(1, 5, 9, 8)
    rois = n.input(np.array([[0, 0, 5, 6], [1.5, 2.25, 7, 7.5], [3, 1, 4, 8]], np.float32), "rois")
    index = n.input(np.zeros(3, np.int32), "index", as_type="int64")
    n.out("half_pixel", "RoiAlign", x, rois, index, output_height=3, output_width=2, sampling_ratio=2,
          spatial_scale=1.0, coordinate_transformation_mode="half_pixel")
    n.out("half", "RoiAlign", x, rois, index, output_height=2, output_width=3, sampling_ratio=2,
          spatial_scale=0.5, coordinate_transformation_mode="output_half_pixel")


# Joining, slicing, moving --------------------------------------------------------------------------------------------

@cases("concat")
def _(n):
    a, b, c = n.x(2, 3, 4, 5), n.x(2, 6, 4, 5), n.x(2, 1, 4, 5)
    n.out("axis1", "Concat", a, b, c, axis=1)
    n.out("axis1_constant", "Concat", a, n.floats(2, 2, 4, 5), axis=1)
    d = n.x(2, 3, 4, 2)
    n.out("axis3", "Concat", a, d, axis=3)
    n.out("axis_m1", "Concat", d, a, d, axis=-1)
    n.out("axis0", "Concat", a, a, axis=0)
    n.out("axis2", "Concat", a, n.x(2, 3, 1, 5), axis=2)
    n.out("rank1", "Concat", n.x(3), n.x(4), axis=0)
    n.out("int", "Concat", n.xi(2, 3), n.xi(2, 2), axis=1)
    n.out("single", "Concat", a, axis=1)


@cases("split")
def _(n):
    x = n.x(2, 7, 4, 6)
    n.outs(["even_0", "even_1", "even_2"], "Split", x, axis=3)
    n.outs(["odd_0", "odd_1", "odd_2"], "Split", x, np.array([1, 4, 2], np.int64), axis=1)
    n.outs(["batch_0", "batch_1"], "Split", x, np.array([1, 1], np.int64), axis=0)
    n.outs(["negative_0", "negative_1"], "Split", x, np.array([3, 1], np.int64), axis=-2)
    n.outs(["int_0", "int_1"], "Split", n.xi(5, 3), np.array([2, 3], np.int64), axis=0)
    a, b = n.op("Split", x, np.array([4, 3], np.int64), axis=1, count=2)
    n.out("shuffled", "Concat", b, a, axis=1)


def array(*values):
    return np.array(values, np.int64)


@cases("slice")
def _(n):
    x = n.x(2, 9, 5, 7)
    for name, parts in {
            "channels": (array(2), array(7), array(1)), "to_end": (array(1), array(2**31 - 1), array(2)),
            "negative_index": (array(-5), array(-1), array(1)), "step2": (array(0), array(9), array(1), array(2)),
            "step_m1": (array(-1), array(-100), array(3), array(-1)), "step_m3": (array(8), array(0), array(1), array(-3)),
            "two_axes": (array(1, 2), array(4, 6), array(2, 3)),
            "two_axes_steps": (array(4, 0), array(-100, 7), array(2, 3), array(-2, 3)),
            "no_axes": (array(0, 1, 2, 3), array(2, 8, 4, 5)), "batch": (array(1), array(2), array(0)),
            "reverse_batch": (array(-1), array(-10), array(0), array(-1))}.items():
        n.out(name, "Slice", x, *parts)
    n.out("rank2", "Slice", n.x(5, 6), array(1, 1), array(4, 5))
    n.out("int", "Slice", n.xi(6, 3), array(5), array(-100), array(0), array(-2))


@cases("slice_dynamic")
def _(n):
    x = n.x(3, 8, 5)
    starts = n.input(np.array([1, 2], np.int32), "starts")
    ends = n.input(np.array([7, 5], np.int32), "ends")
    n.out("fed", "Slice", x, starts, ends, np.array([1, 2], np.int32))


@cases("pad")
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


@cases("transpose")
def _(n):
    x = n.x(2, 5, 3, 7)
    for perm in ((0, 2, 3, 1), (0, 3, 1, 2), (3, 2, 1, 0), (1, 0, 2, 3), (0, 1, 3, 2), (2, 0, 3, 1), (0, 2, 1, 3)):
        n.out("p" + "".join(map(str, perm)), "Transpose", x, perm=list(perm))
    n.out("p10", "Transpose", n.x(13, 9), perm=[1, 0])
    y = n.x(3, 4, 5)
    for perm in ((2, 1, 0), (0, 2, 1), (1, 0, 2), (1, 2, 0)):
        n.out("p" + "".join(map(str, perm)), "Transpose", y, perm=list(perm))
    z = n.x(2, 3, 2, 4, 3)
    for perm in ((0, 2, 1, 4, 3), (4, 3, 2, 1, 0), (0, 3, 1, 4, 2)):
        n.out("p" + "".join(map(str, perm)), "Transpose", z, perm=list(perm))
    n.out("default", "Transpose", y)
    n.out("int", "Transpose", n.xi(4, 3), perm=[1, 0])
    n.out("rank6", "Transpose", n.x(1, 2, 3, 2, 2, 3), perm=[0, 1, 4, 2, 5, 3])


@cases("reshape_family")
def _(n):
    x = n.x(2, 6, 4, 5)
    n.out("reshape", "Reshape", x, array(4, 60))
    n.out("reshape_minus", "Reshape", x, array(2, -1, 5))
    n.out("reshape_zero", "Reshape", x, array(0, 3, 2, 0, -1))
    n.out("reshape_rank1", "Reshape", x, array(-1))
    n.out("flatten", "Flatten", x)
    n.out("flatten2", "Flatten", x, axis=2)
    n.out("flatten0", "Flatten", x, axis=0)
    n.out("flatten_m1", "Flatten", x, axis=-1)
    y = n.x(1, 7, 1, 3)
    n.out("squeeze02", "Squeeze", y, array(0, 2))
    n.out("squeeze_m2", "Squeeze", y, array(-2))
    n.out("squeeze_all", "Squeeze", y)
    n.out("unsqueeze", "Unsqueeze", n.x(3, 4), array(0, 3))
    n.out("unsqueeze_m1", "Unsqueeze", n.x(3, 4), array(-1))
    n.out("shuffle", "Reshape", n.op("Transpose", n.op("Reshape", x, array(2, 2, 3, 4, 5)), perm=[0, 2, 1, 3, 4]),
          array(2, 6, 4, 5))
    n.out("from_pool", "Reshape", n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2]), array(2, -1))


@cases("expand_tile")
def _(n):
    x = n.x(3, 1, 4)
    n.out("expand", "Expand", x, array(2, 3, 5, 4))
    n.out("expand_ones", "Expand", x, array(1, 2, 1))
    n.out("expand_scalar", "Expand", n.input(np.array(2.5, np.float32), "s"), array(2, 3))
    n.out("tile", "Tile", x, array(1, 2, 3))
    n.out("tile_rank4", "Tile", n.x(1, 5, 2, 3), array(2, 1, 2, 1))
    n.out("tile_int", "Tile", n.xi(2, 3), array(3, 2))
    n.out("expand_int", "Expand", n.xi(1, 3), array(4, 3))


@cases("gather")
def _(n):
    x = n.x(4, 5, 6)
    for axis in (0, 1, 2, -1):
        n.out(f"axis{axis}".replace("-", "m"), "Gather", x, np.array([[0, 3], [2, 1]], np.int64), axis=axis)
    n.out("scalar", "Gather", x, np.array(2, np.int64), axis=1)
    n.out("negative", "Gather", x, np.array([-1, -3], np.int64), axis=1)
    index = n.input(np.array([3, 0, 0, 2], np.int32), "index")
    n.out("fed", "Gather", x, index, axis=0)
    n.out("fed_axis2", "Gather", x, index, axis=2)
    n.out("embedding", "Gather", n.floats(11, 7), index, axis=0)
    negative = n.input(np.array([-1, 1, -4], np.int32), "negative_index")
    n.out("fed_negative", "Gather", x, negative, axis=0)
    n.out("int", "Gather", n.xi(5, 3), index, axis=0)
    n.out("rank4_channel", "Gather", n.x(2, 9, 3, 2), np.array([8, 0, 4], np.int64), axis=1)


@cases("gather_nd_elements")
def _(n):
    x = n.x(3, 4, 5)
    n.out("nd_full", "GatherND", x, np.array([[0, 1, 2], [2, 3, 4]], np.int64))
    n.out("nd_rows", "GatherND", x, np.array([[[0, 1]], [[2, 3]]], np.int64))
    n.out("nd_slices", "GatherND", x, np.array([[2], [0]], np.int64))
    n.out("nd_batch", "GatherND", x, np.array([[0], [3], [1]], np.int64), batch_dims=1)
    index = n.input(np.array([[0, 0], [2, 1]], np.int32), "index", as_type="int64")
    n.out("nd_fed", "GatherND", x, index)
    e = n.input(n.ints(3, 2, 5, low=0, high=4), "element")
    n.out("elements_1", "GatherElements", x, e, axis=1)
    n.out("elements_2", "GatherElements", x, n.ints(3, 4, 2, low=0, high=5).astype(np.int64), axis=-1)
    n.out("elements_0", "GatherElements", x, n.ints(2, 4, 5, low=0, high=3).astype(np.int64), axis=0)


@cases("scatter")
def _(n):
    x = n.x(4, 5, 3)
    u = n.x(2, 5, 3, name="updates")
    n.out("nd_rows", "ScatterND", x, np.array([[3], [1]], np.int64), u)
    n.out("nd_points", "ScatterND", x, np.array([[0, 0, 0], [3, 4, 2], [1, 2, 1]], np.int64), n.x(3, name="points"))
    index = n.input(np.array([[2, 1], [0, 4]], np.int32), "index", as_type="int64")
    n.out("nd_fed", "ScatterND", x, index, n.x(2, 3, name="rows"))
    n.out("elements_0", "ScatterElements", x, np.array([[[0, 1, 2], [3, 2, 1]]], np.int64), n.x(1, 2, 3, name="e0"))
    n.out("elements_1", "ScatterElements", x, np.array([[[0, 1, 2], [3, 2, 1]]], np.int64), n.x(1, 2, 3, name="e1"),
          axis=1)
    n.out("nd_int", "ScatterND", n.xi(6), np.array([[1], [4]], np.int64), n.xi(2))


@cases("scatter_add", opset=16)
def _(n):
    x = n.x(4, 5)
    n.out("elements_add", "ScatterElements", x, np.array([[1, 1, 0], [2, 3, 2]], np.int64), n.x(2, 3, name="e"),
          reduction="add")


@cases("where_cast")
def _(n):
    a, b = n.x(2, 5, 3, name="a"), n.x(2, 5, 3, name="b")
    mask = n.op("Greater", a, b)
    n.out("where", "Where", mask, a, b)
    n.out("where_scalar", "Where", mask, a, np.float32(-3))
    n.out("where_row", "Where", n.op("Less", n.x(5, 1, name="c"), np.float32(0)), a, n.floats(3))
    n.out("where_int", "Where", mask, np.array(4, np.int32), n.xi(2, 5, 3, name="i"))
    n.out("bool_to_float", "Cast", mask, to=TensorProto.FLOAT)
    n.out("to_int", "Cast", n.op("Mul", a, np.float32(3.7)), to=TensorProto.INT32)
    n.out("to_int64", "Cast", n.op("Mul", a, np.float32(-2.3)), to=TensorProto.INT64)
    n.out("int_to_float", "Cast", n.xi(7, name="j"), to=TensorProto.FLOAT)
    n.out("int_to_bool", "Cast", n.xi(9, name="k", low=-1, high=2), to=TensorProto.BOOL, official=True)
    n.out("float_to_bool", "Cast", n.input(np.array([0, 0.4, -2, 0, 1], np.float32), "f"), to=TensorProto.BOOL,
          official=True)


@cases("range_onehot")
def _(n):
    limit = n.input(np.array(9, np.int32), "limit")
    n.out("range", "Range", np.array(1, np.int32), limit, np.array(2, np.int32))
    stop = n.input(np.array(2.0, np.float32), "stop")
    n.out("range_float", "Range", np.float32(0.5), stop, np.float32(0.25))
    index = n.input(np.array([[0, 3], [2, 1], [4, 4]], np.int32), "index")
    n.out("onehot_last", "OneHot", index, np.array(5, np.int64), np.array([0, 1], np.float32), axis=-1)
    n.out("onehot_first", "OneHot", index, np.array(6, np.int64), np.array([-1, 2], np.float32), axis=0)
    n.out("onehot_1", "OneHot", index, np.array(5, np.int64), np.array([0.5, 1.5], np.float32), axis=1)
    n.out("constant_of_shape", "Add", n.op("ConstantOfShape", n.op("Shape", index),
          value=helper.make_tensor("v", TensorProto.INT32, [1], [3])), index)


@cases("topk_argmax")
def _(n):
    x = n.x(3, 11, 5)
    n.outs(["largest_values", "largest_index"], "TopK", x, array(4), axis=1)
    n.outs(["smallest_values", "smallest_index"], "TopK", x, array(3), axis=-1, largest=0)
    n.outs(["axis0_values", "axis0_index"], "TopK", x, array(2), axis=0)
    for axis in (0, 1, 2, -1):
        n.out(f"argmax{axis}".replace("-", "m"), "ArgMax", x, axis=axis, keepdims=0)
        n.out(f"argmin{axis}_keep".replace("-", "m"), "ArgMin", x, axis=axis, keepdims=1)
    n.out("argmax_ties", "ArgMax", n.input(np.array([[1, 3, 3, 2], [5, 5, 5, 5]], np.float32), "ties"), axis=1)
    n.out("argmax_rank4", "ArgMax", n.x(2, 7, 3, 4), axis=1, keepdims=0)
    n.out("argmax_long", "ArgMax", n.x(1, 1001, name="long"), axis=1, keepdims=0)


@cases("topk_fed")
def _(n):
    x = n.x(2, 13)
    k = n.input(np.array([5], np.int32), "k", as_type="int64")
    n.outs(["values", "index"], "TopK", x, k, axis=1)
    tied = n.input(np.array([3, 1, 3, 2, 3, 1], np.float32), "tied")
    n.outs(["tied_values", ""], "TopK", tied, array(4), axis=0)


@cases("cumsum")
def _(n):
    x = n.x(3, 5, 4)
    for axis in (0, 1, -1):
        n.out(f"axis{axis}".replace("-", "m"), "CumSum", x, np.array(axis, np.int32))
    n.out("exclusive", "CumSum", x, np.array(1, np.int32), exclusive=1)
    n.out("reverse", "CumSum", x, np.array(2, np.int32), reverse=1)
    n.out("both", "CumSum", x, np.array(1, np.int32), exclusive=1, reverse=1)
    n.out("int", "CumSum", n.xi(2, 7), np.array(1, np.int32))


@cases("space_depth")
def _(n):
    x = n.x(2, 12, 3, 5)
    n.out("dcr", "DepthToSpace", x, blocksize=2, mode="DCR")
    n.out("crd", "DepthToSpace", x, blocksize=2, mode="CRD")
    y = n.x(1, 5, 6, 9)
    n.out("space3", "SpaceToDepth", y, blocksize=3)
    n.out("depth3", "DepthToSpace", n.x(1, 18, 2, 1), blocksize=3)


@cases("nonzero")
def _(n):
    x = n.input(n.random.integers(0, 2, (4, 7)).astype(np.float32))
    n.out("rank2", "NonZero", x)
    y = n.input(n.random.integers(0, 2, (2, 3, 4)).astype(np.int32))
    n.out("rank3_int", "NonZero", y)
    n.out("gathered", "GatherND", n.x(4, 7, name="z"), n.op("Transpose", n.op("NonZero", x), perm=[1, 0]))
    n.out("compress", "Compress", n.x(5, 3, name="c"), np.array([1, 0, 1, 1, 0], bool), axis=0)


@cases("nonzero_none")
def _(n):
    n.out("none", "NonZero", n.input(np.zeros((3, 4), np.float32)))


@cases("nms")
def _(n):
    corner = n.floats(1, 12, 2, low=0, high=8)
    boxes = n.input(np.concatenate([corner, corner + n.floats(1, 12, 2, low=2, high=5)], axis=2), "boxes")
    scores = n.input(n.floats(1, 1, 12, low=0, high=1), "scores")
    n.out("plain", "NonMaxSuppression", boxes, scores, array(20), np.array([0.4], np.float32))
    n.out("limited", "NonMaxSuppression", boxes, scores, array(3), np.array([0.7], np.float32),
          np.array([0.3], np.float32))


@cases("nms_classes")
def _(n):
    corner = n.floats(1, 9, 2, low=0, high=8)
    boxes = n.input(np.concatenate([corner, corner + n.floats(1, 9, 2, low=2, high=5)], axis=2), "boxes")
    scores = n.input(n.floats(1, 3, 9, low=0, high=1), "scores")
    n.out("selected", "NonMaxSuppression", boxes, scores, array(4), np.array([0.3], np.float32),
          np.array([0.2], np.float32))


@cases("trilu_eye")
def _(n):
    x = n.x(2, 5, 6)
    n.out("upper", "Trilu", x)
    n.out("lower", "Trilu", x, upper=0)
    n.out("upper_k1", "Trilu", x, np.array(1, np.int64))
    n.out("lower_km2", "Trilu", x, np.array(-2, np.int64), upper=0)
    n.out("eye", "EyeLike", n.x(4, 6), k=1)


@cases("reverse_sequence")
def _(n):
    x = n.x(5, 3, 2)
    lengths = n.input(np.array([2, 5, 1], np.int32), "lengths", as_type="int64")
    n.out("time0", "ReverseSequence", x, lengths, batch_axis=1, time_axis=0)


@cases("shape_size")
def _(n):
    x = n.input(n.floats(2, 5, 7), shape=["n", 5, "w"])
    n.out("shape", "Shape", x)
    n.out("shape_part", "Shape", x, start=1, end=3)
    n.out("size", "Size", x)


# Shapes that come from data ------------------------------------------------------------------------------------------

@cases("dynamic_reshape")
def _(n):
    x = n.input(n.floats(2, 6, 5, 4), shape=["n", 6, "h", "w"])
    shape = n.op("Shape", x)
    height = n.op("Gather", shape, np.array(2, np.int64), axis=0)
    width = n.op("Gather", shape, np.array(3, np.int64), axis=0)
    n0 = n.op("Gather", shape, np.array(0, np.int64), axis=0)
    plane = n.op("Mul", height, width)
    un = lambda t: n.op("Unsqueeze", t, array(0))
    n.out("rows", "Reshape", x, n.op("Concat", un(n0), array(6), un(plane), axis=0))
    n.out("shuffle", "Reshape", n.op("Transpose", n.op("Reshape", x, n.op(
        "Concat", un(n0), array(2), array(3), un(height), un(width), axis=0)), perm=[0, 2, 1, 3, 4]), shape)
    n.out("expanded", "Expand", n.floats(1, 6, 1, 1), shape)
    n.out("window", "Slice", x, array(0), un(n.op("Div", height, np.array(2, np.int64))), array(2))
    n.out("filled", "ConstantOfShape", n.op("Slice", shape, array(1), array(3), array(0)),
          value=helper.make_tensor("v", TensorProto.FLOAT, [1], [1.5]))
    n.out("upsampled", "Resize", x, "", "", n.op("Concat", n.op("Slice", shape, array(0), array(2), array(0)),
          n.op("Mul", n.op("Slice", shape, array(2), array(4), array(0)), array(2, 2)), axis=0),
          mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    n.out("positions", "Range", np.array(0, np.int64), plane, np.array(1, np.int64))
    n.out("normalised", "Div", x, n.op("Cast", plane, to=TensorProto.FLOAT))


@cases("dynamic_batch_conv")
def _(n):
    x = n.input(n.floats(2, 3, 9, 7), shape=["n", 3, "h", "w"])
    c = n.op("Relu", n.op("Conv", x, n.floats(6, 3, 3, 3), n.floats(6), pads=[1, 1, 1, 1], strides=[2, 2]))
    up = n.op("Resize", c, "", "", n.op("Concat", n.op("Slice", n.op("Shape", c), array(0), array(2)),
              n.op("Slice", n.op("Shape", x), array(2), array(4)), axis=0), mode="linear",
              coordinate_transformation_mode="align_corners")
    n.out("joined", "Concat", x, up, axis=1)
    n.out("flat", "Flatten", n.op("GlobalAveragePool", c))


@cases("attention")
def _(n):
    x = n.input(n.floats(2, 5, 12), shape=["n", "s", 12])
    w = lambda: (n.floats(12, 12) / 4).astype(np.float32)
    shape = n.op("Shape", x)
    heads = n.op("Concat", n.op("Slice", shape, array(0), array(2)), array(3, 4), axis=0)
    q, k, v = (n.op("Transpose", n.op("Reshape", n.op("Add", n.op("MatMul", x, w()), n.floats(12)), heads),
                    perm=[0, 2, 1, 3]) for _ in range(3))
    scores = n.op("Mul", n.op("MatMul", q, n.op("Transpose", k, perm=[0, 1, 3, 2])), np.float32(0.5))
    mixed = n.op("Transpose", n.op("MatMul", n.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    n.out("y", "Add", n.op("MatMul", n.op("Reshape", mixed, shape), w()), x)


# Recurrence and control flow -----------------------------------------------------------------------------------------

@cases("lstm")
def _(n):
    x = n.x(4, 2, 3)
    n.outs(["y", "h", "c"], "LSTM", x, n.floats(1, 20, 3, low=-.5, high=.5), n.floats(1, 20, 5, low=-.5, high=.5),
           n.floats(1, 40, low=-.3, high=.3), hidden_size=5)


@cases("lstm_both")
def _(n):
    x = n.x(4, 2, 3)
    n.outs(["y", "h", "c"], "LSTM", x, n.floats(2, 20, 3, low=-.5, high=.5), n.floats(2, 20, 5, low=-.5, high=.5),
           n.floats(2, 40, low=-.3, high=.3), hidden_size=5,
           direction="bidirectional")


@cases("gru")
def _(n):
    x = n.x(4, 2, 3)
    n.outs(["y", "h"], "GRU", x, n.floats(1, 15, 3, low=-.5, high=.5), n.floats(1, 15, 5, low=-.5, high=.5),
           n.floats(1, 30, low=-.3, high=.3), hidden_size=5, linear_before_reset=1)


@cases("rnn")
def _(n):
    x = n.x(4, 2, 3)
    n.outs(["y", "h"], "RNN", x, n.floats(1, 5, 3, low=-.5, high=.5), n.floats(1, 5, 5, low=-.5, high=.5),
           n.floats(1, 10, low=-.3, high=.3), hidden_size=5)


def branch(name, output, nodes, initializers=(), kind=TensorProto.FLOAT):
    return helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(output, kind, None)], list(initializers))


def if_net(value):
    def build(n):
        x = n.input(np.full((2, 3), value, np.float32) + n.floats(2, 3, low=0, high=0.1))
        condition = n.op("Greater", n.op("ReduceSum", x, keepdims=0), np.float32(0))
        two = numpy_helper.from_array(np.float32(2), "two")
        then = branch("then", "then_out", [helper.make_node("Mul", [x, "two"], ["then_out"])], [two])
        other = branch("other", "else_out", [helper.make_node("Neg", [x], ["negative"]),
                                             helper.make_node("Exp", ["negative"], ["else_out"])])
        picked = n.op("If", condition, then_branch=then, else_branch=other)
        n.out("y", "Add", picked, np.float32(1))
    return build


@cases("if_shapes")
def _(n):
    """The branches give different shapes."""
    x = n.input(n.floats(2, 6), shape=["n", 6])
    count = n.op("Gather", n.op("Shape", x), np.array(0, np.int64), axis=0)
    then = branch("then", "then_out", [helper.make_node("Concat", [x, x], ["then_out"], axis=0)])
    other = branch("else", "else_out", [helper.make_node("Abs", [x], ["else_out"])])
    n.out("y", "Neg", n.op("If", n.op("Less", count, np.array(4, np.int64)), then_branch=then, else_branch=other))


cases("if_then")(if_net(1.0))
cases("if_else")(if_net(-1.0))


@cases("loop_counted")
def _(n):
    x = n.x(2, 3)
    trips = n.input(np.array(5, np.int32), "trips", as_type="int64")
    body = helper.make_graph(
        [helper.make_node("Mul", ["acc", "half"], ["scaled"]), helper.make_node("Add", ["scaled", x], ["next"]),
         helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("Identity", ["next"], ["scan"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []),
         helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("acc", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
         helper.make_tensor_value_info("next", TensorProto.FLOAT, [2, 3]),
         helper.make_tensor_value_info("scan", TensorProto.FLOAT, [2, 3])],
        [numpy_helper.from_array(np.float32(0.5), "half")])
    n.outs(["final", "steps"], "Loop", trips, np.array(True), x, body=body)


@cases("loop_conditional")
def _(n):
    x = n.input(np.array([1.5], np.float32))
    body = helper.make_graph(
        [helper.make_node("Add", ["acc", "acc"], ["next"]), helper.make_node("Less", ["next", "bound"], ["go1"]),
         helper.make_node("Squeeze", ["go1"], ["go_on"])], "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []),
         helper.make_tensor_value_info("go", TensorProto.BOOL, []),
         helper.make_tensor_value_info("acc", TensorProto.FLOAT, [1])],
        [helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
         helper.make_tensor_value_info("next", TensorProto.FLOAT, [1])],
        [numpy_helper.from_array(np.array([40], np.float32), "bound")])
    n.out("y", "Loop", np.array(100, np.int64), np.array(True), x, body=body)


# Conversion, expectation, writing ------------------------------------------------------------------------------------

def as_double(graph):
    """The graph with float tensors turned into double ones, in place (Resize and the like keep float scales)."""
    keep = {i for node in graph.node if node.op_type in ("Resize", "Upsample", "NonMaxSuppression")
            for i in list(node.input)[1:]}
    for tensor in graph.initializer:
        if tensor.data_type == TensorProto.FLOAT and tensor.name not in keep:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float64), tensor.name))
    for info in list(graph.input) + list(graph.output):
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = TensorProto.DOUBLE
    del graph.value_info[:]
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type in ("Cast", "EyeLike") and attribute.name in ("to", "dtype"):
                attribute.i = TensorProto.DOUBLE if attribute.i == TensorProto.FLOAT else attribute.i
            if attribute.HasField("g"):
                as_double(attribute.g)
            if attribute.HasField("t") and attribute.t.data_type == TensorProto.FLOAT:
                attribute.t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(attribute.t).astype(np.float64)))


def only_output(model, name):
    needed, nodes = {name}, []
    for node in reversed(model.graph.node):
        if needed & set(node.output):
            nodes.insert(0, node)
            needed |= {i for i in node.input if i}
            for attribute in node.attribute:
                for inner in attribute.g.node if attribute.HasField("g") else []:
                    needed |= set(inner.input)
    part = onnx.ModelProto()
    part.CopyFrom(model)
    graph = part.graph
    for field, kept in (("node", nodes), ("input", [i for i in graph.input if i.name in needed]),
                        ("initializer", [i for i in graph.initializer if i.name in needed]),
                        ("output", [o for o in graph.output if o.name == name])):
        kept = [type(k).FromString(k.SerializeToString()) for k in kept]
        graph.ClearField(field)
        getattr(graph, field).extend(kept)
    return part


def evaluate(model, feed, name, engine, double):
    """One output of the model, or None where the engine does not have the operators."""
    part = only_output(model, name)
    feed = {i.name: feed[i.name] for i in part.graph.input}
    if double:
        as_double(part.graph)
        feed = {k: v.astype(np.float64) if v.dtype == np.float32 else v for k, v in feed.items()}
    try:
        if engine == "ort":
            import onnxruntime
            onnxruntime.set_default_logger_severity(4)
            options = onnxruntime.SessionOptions()
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            part.graph.ClearField("value_info")
            for output in part.graph.output:
                kind = output.type.tensor_type.elem_type
                output.CopyFrom(helper.make_tensor_value_info(output.name, kind, None))
            session = onnxruntime.InferenceSession(part.SerializeToString(), options,
                                                   providers=["CPUExecutionProvider"])
            return np.asarray(session.run([name], feed)[0])
        from onnx.reference import ReferenceEvaluator
        return np.asarray(ReferenceEvaluator(part).run([name], feed)[0])
    except Exception:
        return None


def stored(array):
    """The array in the type that the converted model has."""
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array.astype(np.float32)).reshape(array.shape)
    return np.ascontiguousarray(array.astype(np.int32)).reshape(array.shape)


def apart(a, b):
    if a is None or b is None:
        return float("nan")
    if a.shape != b.shape:
        return float("inf")
    if a.dtype.kind != "f":
        return float(np.count_nonzero(a != b))
    if a.size == 0:
        return 0.0
    scale = np.abs(b.astype(np.float64)).max() or 1.0
    difference = np.abs(a.astype(np.float64) - b.astype(np.float64)).max() / scale
    return float("inf") if np.isnan(difference) else float(difference)


WORKER = r"""
import json, sys
import numpy as np
job = json.load(open(sys.argv[1]))
import MNN, _tools
import MNN.nn, MNN.expr
if job["step"] == "convert":
    _tools.mnnconvert(["mnnconvert", "-f", "ONNX", "--modelFile", job["onnx"], "--MNNModel", job["mnn"], "--bizCode",
                       "test"])
else:
    net = MNN.nn.load_module_from_file(job["mnn"], job["inputs"], job["outputs"])
    feed = []
    for path in job["files"]:
        a = np.load(path)
        t = MNN.expr.int if a.dtype == np.int32 else MNN.expr.float
        feed.append(MNN.expr.const(a.flatten().tolist() if a.shape else [a.item()], list(a.shape), MNN.expr.NCHW, t))
    got = net.forward(feed)
    got = got if isinstance(got, (list, tuple)) else [got]
    for name, value in zip(job["outputs"], got):
        if value.data_format == MNN.expr.NC4HW4:
            value = MNN.expr.convert(value, MNN.expr.NCHW)
        np.save(job["folder"] + "/" + name + ".npy", np.array(value.read()).reshape(value.shape))
"""


def worker(folder, **job):
    job["folder"] = folder
    path = os.path.join(folder, "job.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(job, file)
    done = subprocess.run([sys.executable, "-c", WORKER, path], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout[-600:] + done.stderr[-600:]


def write_case(net, root, report):
    folder = os.path.join(root, net.name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    model = net.model()
    feed = {k: v.astype(net.types[k]) for k, v in net.data.items()}
    with tempfile.TemporaryDirectory() as scratch:
        path, target = os.path.join(scratch, "net.onnx"), os.path.join(folder, "model.mnn")
        onnx.save(model, path)
        code, text = worker(scratch, step="convert", onnx=path, mnn=target)
        if code or not os.path.exists(target):
            print(f"NOT CONVERTED {net.name}: {text}")
            shutil.rmtree(folder)
            return
        entries, arrays = {"inputs": [], "outputs": []}, {}
        for name in net.inputs:
            entries["inputs"].append(entry(arrays, "in", name, stored(net.data[name])))
        files = [os.path.join(scratch, e["file"]) for e in entries["inputs"]]
        for file, e in zip(files, entries["inputs"]):
            with open(file, "wb") as stream:
                stream.write(arrays[e["file"]])
        code, text = worker(scratch, step="run", mnn=target, inputs=net.inputs, outputs=net.outputs, files=files)
        for name in net.outputs if code else []:  # it crashed: one output at a time, to name the culprit
            code, text = worker(scratch, step="run", mnn=target, inputs=net.inputs, outputs=[name], files=files)
            if code:
                print(f"OFFICIAL RUNTIME CRASHES {net.name}/{name}: rc {code}")
        for name in net.outputs:
            official_path = os.path.join(scratch, name + ".npy")
            official = stored(np.load(official_path)) if os.path.exists(official_path) else None
            candidates = [(engine, double, evaluate(model, feed, name, engine, double))
                          for engine, double in (("ort", True), ("ref", True), ("ort", False))]
            single = candidates[2][2]
            if name in net.truth:
                chosen = ("formula", True, net.truth[name])
            elif name in net.as_official and official is not None:
                chosen = ("official", False, official)
            else:
                found = [c for c in candidates if c[2] is not None]
                if single is not None:
                    found = [c for c in found if c[2].shape == single.shape and apart(stored(c[2]), stored(single)) < 1e-3]
                if not found:
                    print(f"NO EXPECTATION {net.name}/{name}")
                    continue
                chosen = found[0]
            value = stored(chosen[2])
            error = apart(official, value)
            flag = "" if error < OFFICIAL_BOUND else "  <-- OFFICIAL RUNTIME DIFFERS"
            if report or flag:
                print(f"{net.name}/{name}: {chosen[0]}{64 if chosen[1] else 32}  ort32 "
                      f"{apart(None if single is None else stored(single), value):.1e}  official {error:.1e} "
                      f"{None if official is None else official.shape} {value.shape}{flag}")
            entries["outputs"].append(entry(arrays, "out", name, value))
    description = {"model": "model.mnn", **entries, "tolerance": {"relative_to_max": net.tolerance}}
    case_files.write(folder, description, arrays)


def entry(arrays, prefix, name, value):
    """The entry of case.json for an array, which is added to the arrays as the bytes of a .npy."""
    file, npy = f"{prefix}_{name}.npy", io.BytesIO()
    np.save(npy, value)
    arrays[file] = npy.getvalue()
    return {"name": name, "shape": list(value.shape), "dtype": str(value.dtype), "file": file}


# Nets whose operators the library does not implement yet: made only when --only names them.
NOT_YET = {"conv_3d", "grid_sample", "rnn", "roi_align"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose name matches this expression")
    parser.add_argument("--report", action="store_true", help="print the distance of every output to other engines")
    parser.add_argument("output", nargs="?", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases"))
    options = parser.parse_args()
    for name, build in CASES:
        if re.search(options.only, name) and (name not in NOT_YET or options.only):
            try:
                write_case(build(), options.output, options.report)
            except Exception as error:  # one broken case must not hide the others
                print(f"BROKEN {name}: {type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
