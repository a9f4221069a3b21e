"""Net, an ONNX graph under construction, and the list of cases."""
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ONNX_TYPES = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
              "bool": TensorProto.BOOL, "uint8": TensorProto.UINT8}
CASES = []


class Net:
    """A graph under construction. op() and out() take tensor names or numpy arrays (stored as initializers)."""

    def __init__(self, name, opset=17, tolerance=1e-5, seed=None, flags=()):
        """seed: a text in place of the name, with which renamed cases keep their numbers. flags: of the converter."""
        self.name, self.opset, self.tolerance, self.flags = name, opset, tolerance, list(flags)
        self.random = np.random.default_rng(zlib.crc32((seed or name).encode()))
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
        """Adds one operator whose result is the output `name`. official: the runtime's semantics differ from ONNX's."""
        self.nodes.append(helper.make_node(kind, [self._name(i) for i in inputs], [name], **attributes))
        self.mark(name, official, truth)
        return name

    def outs(self, names, kind, *inputs, official=False, **attributes):
        self.nodes.append(helper.make_node(kind, [self._name(i) for i in inputs], names, **attributes))
        for name in names:
            if name:
                self.mark(name, official)

    def mark(self, name, official=False, truth=None):
        """truth: the expected value, where the converted file computes another result than the ONNX graph."""
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


def cases(name, opset=17, tolerance=1e-5, seed=None, flags=()):
    def register(function):
        CASES.append((name, lambda: _built(Net(name, opset, tolerance, seed, flags), function)))
        return function
    return register


def _built(net, function):
    function(net)
    return net


def array(*values):
    return np.array(values, np.int64)
