"""WireNet, a net under construction as the JSON form of its file, for operators and forms that the converter makes of
no ONNX graph.

Its cases state their expected values themselves: from a formula in double precision or from another framework.
"""
import zlib

import numpy as np

TYPES = {"float32": ("DT_FLOAT", "float32s"), "int32": ("DT_INT32", "int32s"), "int8": ("DT_INT8", "int8s"),
         "uint8": ("DT_UINT8", "uint8s")}
CASES = []


class WireNet:
    """A net under construction: every method takes and returns tensor numbers. quant: (scale, zero[, min, max])."""

    def __init__(self, name, tolerance=1e-5, seed=None):
        self.name, self.tolerance = name, tolerance
        self.random = np.random.default_rng(zlib.crc32((seed or name).encode()))
        self.tensors, self.ops, self.quants = [], [], {}
        self.inputs, self.outputs, self.expected = {}, [], {}
        self.source = "CAFFE"  # the framework that the file names
        self.described = {}  # the descriptions of a static model, by tensor
        self.subgraphs = []

    def floats(self, *shape, low=-2.0, high=2.0):
        return self.random.uniform(low, high, shape).astype(np.float32)

    def ints(self, *shape, low=-9, high=10):
        return self.random.integers(low, high, shape).astype(np.int32)

    def tensor(self, name=None, quant=None, quant_type="DT_INT8"):
        self.tensors.append(name or f"t{len(self.tensors)}")
        index = len(self.tensors) - 1
        if quant:
            scale, zero, low, high = (*quant, -127, 127)[:4]
            self.quants[index] = {"scale": float(np.float32(scale)), "zero": zero, "min": low, "max": high,
                                  "type": quant_type}
        return index

    def node(self, kind, inputs, outputs, table=None, main=None, data_format="NCHW"):
        """Adds an operator that writes existing tensors. table and main: its parameters in the JSON form of the
        schema."""
        op = {"type": kind, "name": self.tensors[outputs[0]] if outputs else kind, "inputIndexes": list(inputs),
              "outputIndexes": list(outputs), "defaultDimentionFormat": data_format}
        if table:
            op["main_type"], op["main"] = table, main or {}
        self.ops.append(op)

    def op(self, kind, inputs, table=None, main=None, *, count=1, data_format="NCHW", quant=None, name=None):
        """Adds an operator with `count` new tensors as outputs, and returns it or a list of them."""
        outputs = [self.tensor(name if i == 0 else None, quant) for i in range(count)]
        self.node(kind, inputs, outputs, table, main, data_format)
        return outputs[0] if count == 1 else outputs

    def feed(self, value, name=None, data_format="NCHW", quant=None, shape=None):
        """Adds an input of the net with its values. shape: the declared one, if it differs from that of the values."""
        name, value = name or f"in{len(self.inputs)}", np.asarray(value)
        self.inputs[name] = value
        return self.op("Input", [], "Input", {"dims": list(value.shape if shape is None else shape),
                                              "dtype": TYPES[str(value.dtype)][0], "dformat": data_format},
                       data_format=data_format, quant=quant, name=name)

    def const(self, value, data_format="NCHW"):
        value = np.asarray(value)
        kind, field = TYPES[str(value.dtype)]
        return self.op("Const", [], "Blob", {"dims": list(value.shape), "dataType": kind, "dataFormat": data_format,
                                             field: value.reshape(-1).tolist()}, data_format=data_format)

    def expect(self, name, tensor, value):
        """Makes the tensor an output of this name with these expected values."""
        self.tensors[tensor] = name
        for op in self.ops:
            if tensor in op["outputIndexes"]:
                op["name"] = name
        self.outputs.append(name)
        self.expected[name] = np.asarray(value)

    def describe(self, tensor, shape, regions=(), data_format="NCHW", kind="DT_FLOAT"):
        """Makes the net a static one, in which every tensor has a shape. regions: source, destination (an offset and 3
        strides each) and 3 sizes, for each input of the Raster that makes the tensor."""
        self.described[tensor] = {
            "blob": {"dims": list(shape), "dataType": kind, "dataFormat": data_format},
            "regions": [{"src": {"offset": s[0], "stride": list(s[1:])}, "dst": {"offset": d[0], "stride": list(d[1:])},
                         "size": list(size)} for s, d, size in regions]}

    def subgraph(self, body, inputs, outputs):
        """Adds a net that If or While of this one runs, with these of its tensors as formal inputs and outputs."""
        self.subgraphs.append({"name": body.name, "tensors": body.tensors, "nodes": body.ops, "inputs": list(inputs),
                               "outputs": list(outputs)})

    def document(self):
        return {**({"usage": "INFERENCE_STATIC"} if self.described else {}),
                "oplists": self.ops, "tensorName": self.tensors, "outputName": self.outputs, "sourceType": self.source,
                "bizCode": "test", "mnn_uuid": self.name,
                 **({"subgraphs": self.subgraphs} if self.subgraphs else {}),
                "extraTensorDescribe": [{"index": i, "quantInfo": q} for i, q in self.quants.items()] +
                                       [{"index": i, **d} for i, d in self.described.items()]}


def wire_cases(name, tolerance=1e-5, seed=None):
    def register(function):
        CASES.append((name, lambda: _built(WireNet(name, tolerance, seed), function)))
        return function
    return register


def _built(net, function):
    function(net)
    return net
