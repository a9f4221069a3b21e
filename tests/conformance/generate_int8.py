#!/usr/bin/env python3
"""Writes the cases of quantised nets: small nets built here, with the official runtime's outputs as expected ones.

usage: generate_int8.py [--only REGEX] [--flatc FLATC] [OUTPUT_FOLDER]

Needs MNN (the official wheel), numpy and flatc. The official runtime's int8 results are exact facts: every build of it
gives the same bits, so these cases allow no difference but that of the last conversion to float.
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

import case_files

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMA = os.path.join(HERE, "..", "..", "schema", "mnn.fbs")
CASES = []


def case(name, tolerance=1e-6):
    def register(function):
        CASES.append((name, function, tolerance))
        return function
    return register


def codebook(q):
    """int8 weights as a stream of 256 samples."""
    rows = q.shape[0]
    head = bytes([2]) + np.array([rows, q.size // rows], "<u4").tobytes() + bytes([0])
    return np.frombuffer(head + np.arange(-128, 128).astype(np.int8).tobytes() +
                         (q.astype(np.int16) + 128).astype(np.uint8).tobytes(), np.int8)


class Net:
    """A net under construction: every method takes and gives tensor numbers. quant: (scale, zero[, min, max])."""

    def __init__(self, name):
        self.name = name
        self.random = np.random.default_rng(zlib.crc32(name.encode()))
        self.tensors, self.ops, self.quants = [], [], {}
        self.inputs, self.outputs = {}, []

    def tensor(self, name=None, quant=None):
        self.tensors.append(name or f"t{len(self.tensors)}")
        index = len(self.tensors) - 1
        if quant:
            scale, zero, low, high = (*quant, -127, 127)[:4]
            self.quants[index] = {"scale": float(np.float32(scale)), "zero": zero, "min": low, "max": high,
                                  "type": "DT_INT8"}
        return index

    def op(self, kind, inputs, quant=None, name=None, table=None, main=None):
        out = self.tensor(name, quant)
        op = {"type": kind, "name": self.tensors[out], "inputIndexes": list(inputs), "outputIndexes": [out],
              "defaultDimentionFormat": "NC4HW4"}
        if table:
            op["main_type"], op["main"] = table, main
        self.ops.append(op)
        return out

    def input(self, name, *shape, quant=None, low=-2.0, high=2.0, values=None):
        data = self.random.uniform(low, high, shape).astype(np.float32) if values is None else values
        index = self.tensor(name, quant)
        self.ops.append({"type": "Input", "name": name, "outputIndexes": [index], "main_type": "Input",
                         "main": {"dims": list(shape), "dtype": "DT_FLOAT", "dformat": "NCHW"}})
        self.inputs[name] = data
        return self.op("ConvertTensor", [index], quant, None, "TensorConvertInfo", {"source": "NCHW", "dest": "NC4HW4"})

    def out(self, name, source, quant=None):
        """A float output of the net."""
        self.op("ConvertTensor", [source], quant, name, "TensorConvertInfo", {"source": "NC4HW4", "dest": "NCHW"})
        self.outputs.append(name)

    def weights(self, oc, ic, kh, kw, low=-127, high=128):
        return self.random.integers(low, high, (oc, ic, kh, kw)).astype(np.int8)

    def conv(self, x, channels, filters, kernel, quant, *, group=1, stride=(1, 1), pads=(0, 0, 0, 0), dilate=(1, 1),
             relu=False, relu6=False, asymmetric=False):
        """A convolution with int8 weights. pads: top, left, bottom, right."""
        kh, kw = kernel
        q = self.weights(filters, channels // group, kh, kw)
        fan = channels // group * kh * kw
        scales = (self.random.uniform(0.3, 1.0, filters) / 74 / np.sqrt(fan)).astype(np.float32)
        alpha = scales
        if asymmetric:
            minimum = self.random.uniform(-0.2, 0.1, filters).astype(np.float32) * scales * 127
            alpha = np.stack([minimum, scales], 1).reshape(-1)
        common = {"padX": pads[1], "padY": pads[0], "kernelX": kw, "kernelY": kh, "strideX": stride[1],
                  "strideY": stride[0], "dilateX": dilate[1], "dilateY": dilate[0], "group": group,
                  "outputCount": filters, "inputCount": channels, "relu": relu, "relu6": relu6, "pads": list(pads)}
        main = {"common": common,
                "bias": [float(v) for v in self.random.uniform(-0.5, 0.5, filters).astype(np.float32)],
                "quanParameter": {"buffer": codebook(q).tolist(), "alpha": [float(v) for v in alpha], "type": 1,
                                  "aMaxOrBits": 8, "aMin": -128 if asymmetric else 0,
                                  "readType": filters if asymmetric else 0, "quantScale": 1.0, "shapeInt32": True},
                "symmetricQuan": {"nbits": 8, "clampMin": -127}}
        kind = "ConvolutionDepthwise" if 1 < group == channels == filters else "Convolution"
        return self.op(kind, [x], quant, None, "Convolution2D", main)

    def folded_conv(self, x, channels, filters, kernel, symmetric, *, group=1, pads=(0, 0, 0, 0), relu=False):
        """The old form: an integer bias and a factor per output channel."""
        kh, kw = kernel
        q = self.weights(filters, channels // group, kh, kw)
        fan = channels // group * kh * kw
        common = {"padX": pads[1], "padY": pads[0], "kernelX": kw, "kernelY": kh, "group": group,
                  "outputCount": filters, "inputCount": channels, "relu": relu, "pads": list(pads)}
        factors = self.random.uniform(0.3, 1.0, filters).astype(np.float32) / np.float32(90 * np.sqrt(fan))
        main = {"common": common,
                "symmetricQuan": {"weight": q.reshape(-1).tolist(),
                                  "bias": self.random.integers(-4000, 4000, filters).tolist(),
                                  "scale": [float(v) for v in factors.astype(np.float32)], **symmetric}}
        kind = "DepthwiseConvInt8" if 1 < group == channels == filters else "ConvInt8"
        return self.op(kind, [x], None, None, "Convolution2D", main)

    def binary(self, a, b, code, quant):
        return self.op("BinaryOp", [a, b], quant, None, "BinaryOp", {"opType": code})

    def pool(self, x, kind, quant, **fields):
        return self.op("Pooling", [x], quant, None, "Pool", {"type": kind, "padType": "CAFFE", **fields})

    def concat(self, inputs, quant, axis=1):
        return self.op("Concat", inputs, quant, None, "Axis", {"axis": axis})

    def document(self):
        return {"oplists": self.ops, "tensorName": self.tensors, "outputName": self.outputs, "sourceType": "CAFFE",
                "bizCode": "test", "mnn_uuid": self.name,
                "extraTensorDescribe": [{"index": i, "quantInfo": q} for i, q in self.quants.items()]}


# Cases ---------------------------------------------------------------------------------------------------------------

IN, MID, OUT = (0.0173, 5), (0.0291, -7), (0.0237, 11)


@case("int8_conv")
def _(n):
    x = n.input("x", 2, 13, 5, 9, quant=IN)
    for name, filters, kernel, options in (
            ("c1x1", 17, (1, 1), {}), ("c1x1_stride", 8, (1, 1), {"stride": (2, 3), "pads": (1, 0, 0, 1)}),
            ("c3x3", 33, (3, 3), {"pads": (1, 1, 1, 1), "relu": True}),
            ("c3x3_stride", 5, (3, 3), {"pads": (0, 1, 1, 0), "stride": (2, 2), "relu6": True}),
            ("c5x2_dilated", 16, (5, 2), {"pads": (4, 2, 4, 0), "dilate": (2, 3)}),
            ("asymmetric", 21, (3, 3), {"pads": (1, 1, 1, 1), "asymmetric": True}),
            ("asymmetric1x1", 40, (1, 1), {"asymmetric": True, "relu": True})):
        n.out(name, n.conv(x, 13, filters, kernel, MID, **options), MID)


@case("int8_conv_chain")
def _(n):
    x = n.input("image", 1, 3, 19, 17, quant=(0.0157, 0))
    a = n.conv(x, 3, 24, (3, 3), (0.0243, -3), stride=(2, 2), pads=(1, 1, 1, 1), relu6=True)
    b = n.conv(a, 24, 72, (1, 1), (0.021, 0), relu=True)
    c = n.conv(b, 72, 72, (3, 3), (0.019, 4), group=72, pads=(1, 1, 1, 1), relu=True)
    d = n.conv(c, 72, 24, (1, 1), (0.0261, -9))
    e = n.binary(a, d, "ADD", (0.0312, 2))
    n.out("sum", e, (0.0312, 2))
    n.out("wide", n.conv(e, 24, 40, (7, 7), (0.0171, 1), pads=(3, 3, 3, 3)), (0.0171, 1))


@case("int8_depthwise")
def _(n):
    x = n.input("x", 2, 19, 7, 11, quant=IN)
    for name, kernel, options in (("d3x3", (3, 3), {"pads": (1, 1, 1, 1)}),
                                  ("stride2", (3, 3), {"pads": (0, 1, 1, 0), "stride": (2, 2), "relu": True}),
                                  ("d5x5", (5, 5), {"pads": (2, 2, 2, 2), "relu6": True}),
                                  ("d1x7", (1, 7), {"pads": (0, 3, 0, 3)}),
                                  ("dilated", (3, 2), {"pads": (2, 3, 2, 0), "dilate": (2, 3), "stride": (1, 3)})):
        n.out(name, n.conv(x, 19, 19, kernel, MID, group=19, **options), MID)


@case("int8_binary")
def _(n):
    a = n.input("a", 1, 18, 7, 9, quant=(0.25, 3), low=-20, high=20)
    b = n.input("b", 1, 18, 7, 9, quant=(0.125, -5), low=-10, high=10)
    for code in ("ADD", "SUB", "MUL"):
        for quant in ((0.5, 4), (0.3, -7)):
            n.out(f"{code.lower()}{quant[1] + 7}", n.binary(a, b, code, quant), quant)


@case("int8_pool")
def _(n):
    # The official runtime compares bytes with their sign wrong in a maximum: only maxima of what is not negative.
    x = n.conv(n.input("x", 2, 21, 11, 9, quant=IN), 21, 18, (1, 1), (0.0291, 0), relu=True)
    y = n.conv(x, 18, 18, (1, 1), MID)
    n.out("max", n.pool(x, "MAXPOOL", (0.0291, 0), kernelX=3, kernelY=2, strideX=2, strideY=2, padX=1), (0.0291, 0))
    n.out("average", n.pool(y, "AVEPOOL", MID, kernelX=3, kernelY=3, strideX=2, strideY=2, padX=1, padY=1), MID)
    n.out("all", n.pool(y, "AVEPOOL", MID, isGlobal=True), MID)
    n.out("other_scale", n.pool(y, "AVEPOOL", OUT, kernelX=2, kernelY=2, strideX=2, strideY=2), OUT)


@case("int8_activation")
def _(n):
    y = n.conv(n.input("x", 1, 9, 8, 8, quant=IN), 9, 20, (1, 1), MID)
    n.out("relu", n.op("ReLU", [y], MID, None, "Relu", {"slope": 0.0}), MID)
    n.out("clip", n.op("ReLU6", [y], MID, None, "Relu6", {"minValue": -0.3, "maxValue": 1.5}), MID)
    n.out("rescaled", n.op("ReLU", [y], OUT, None, "Relu", {"slope": 0.0}), OUT)
    n.out("leaky", n.op("ReLU", [y], OUT, None, "Relu", {"slope": 0.2}), OUT)


@case("int8_movement")
def _(n):
    x = n.input("x", 1, 13, 6, 7, quant=IN)
    a, b = n.conv(x, 13, 16, (1, 1), MID), n.conv(x, 13, 21, (1, 1), MID)
    other = n.conv(x, 13, 16, (1, 1), OUT)
    n.out("concat", n.concat([a, b], MID), MID)
    n.out("concat_odd", n.concat([b, a], MID), MID)
    n.out("concat_scales", n.concat([a, other], MID), MID)
    joined = n.concat([b, a], MID)
    n.out("after", n.conv(joined, 37, 11, (3, 3), OUT, pads=(1, 1, 1, 1)), OUT)
    # Between convolutions, tensors without a scale of their own.
    bare = n.op("ReLU", [a], None, None, "Relu", {"slope": 0.0})
    n.out("inherited", n.conv(bare, 16, 9, (1, 1), OUT), OUT)


@case("int8_mixed")
def _(n):
    x = n.input("x", 1, 12, 6, 5)  # no scale: the first convolution computes in float
    a = n.conv(x, 12, 20, (3, 3), MID, pads=(1, 1, 1, 1))
    b = n.conv(a, 20, 20, (1, 1), OUT)
    n.out("int8", b, OUT)
    float_between = n.op("UnaryOp", [b], None, None, "UnaryOp", {"opType": "SIGMOID"})
    n.out("float", float_between)
    n.out("back", n.conv(n.binary(float_between, b, "MUL", IN), 20, 7, (1, 1), MID), MID)


@case("int8_folded")
def _(n):
    # Nets with explicit operators between int8 tensors.
    cast = {"zeroPoint": 3, "clampMin": -127, "clampMax": 127}
    symmetric = {"zeroPoint": 3, "outputZeroPoint": -6, "clampMin": -120, "clampMax": 110}
    x = n.input("x", 1, 13, 8, 7)  # with a batch the official runtime takes the scales of other channels
    q = n.op("FloatToInt8", [x], None, None, "QuantizedFloatParam", {"tensorScale": [45.0], **cast})

    def out(name, source, channels=1):
        scales = [float(v) for v in n.random.uniform(0.01, 0.03, channels).astype(np.float32)]
        n.out(name, n.op("Int8ToFloat", [source], None, None, "QuantizedFloatParam",
                         {"tensorScale": scales, "zeroPoint": -6}))

    out("cast", q)
    out("c1x1", n.folded_conv(q, 13, 18, (1, 1), symmetric))
    out("c3x3", n.folded_conv(q, 13, 9, (3, 3), symmetric, pads=(1, 1, 1, 1), relu=True), 9)
    out("depthwise", n.folded_conv(q, 13, 13, (3, 3), symmetric, group=13, pads=(1, 1, 1, 1)))
    each = {"tensorScale": [float(v) for v in n.random.uniform(30, 60, 13).astype(np.float32)], **cast}
    out("channels", n.op("FloatToInt8", [x], None, None, "QuantizedFloatParam", each))


# Writing -------------------------------------------------------------------------------------------------------------

WORKER = r"""
import json, sys
import numpy as np
job = json.load(open(sys.argv[1]))
import MNN
net = MNN.Interpreter(job["mnn"])
session = net.createSession()
inputs = net.getSessionInputAll(session)
for name, path in job["inputs"].items():
    a = np.load(path)
    host = MNN.Tensor(a.shape, MNN.Halide_Type_Float, np.ascontiguousarray(a), MNN.Tensor_DimensionType_Caffe)
    inputs[name].copyFrom(host)
net.runSession(session)
for name, path in job["outputs"].items():
    t = net.getSessionOutput(session, name)
    shape = t.getShape()
    host = MNN.Tensor(shape, MNN.Halide_Type_Float, np.zeros(shape, np.float32), MNN.Tensor_DimensionType_Caffe)
    t.copyToHostTensor(host)
    np.save(path, np.array(host.getData(), np.float32).reshape(shape))
"""


def build(net, path, flatc):
    source = os.path.splitext(path)[0] + ".json"
    with open(source, "w", encoding="utf-8") as file:
        json.dump(net.document(), file)
    subprocess.run([flatc, "--no-warnings", "--binary", "-o", os.path.dirname(path), SCHEMA, source], check=True)
    os.remove(source)
    made = os.path.splitext(path)[0] + ".bin"
    if os.path.exists(made):
        os.replace(made, path)


def official(net, model, scratch):
    job = {"mnn": model, "inputs": {}, "outputs": {}}
    for name, data in net.inputs.items():
        job["inputs"][name] = os.path.join(scratch, f"in_{name}.npy")
        np.save(job["inputs"][name], data)
    for name in net.outputs:
        job["outputs"][name] = os.path.join(scratch, f"out_{name}.npy")
    path = os.path.join(scratch, "job.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(job, file)
    done = subprocess.run([sys.executable, "-c", WORKER, path], capture_output=True, text=True, timeout=120,
                          check=False)
    if done.returncode:
        raise RuntimeError(f"the official runtime: rc {done.returncode} {done.stdout[-300:]}{done.stderr[-300:]}")
    return {name: np.load(path) for name, path in job["outputs"].items()}


def entry(arrays, prefix, name, value):
    """The entry of case.json for an array, which is added to the arrays as the bytes of a .npy."""
    file, npy = f"{prefix}_{name}.npy", io.BytesIO()
    np.save(npy, value)
    arrays[file] = npy.getvalue()
    return {"name": name, "shape": list(value.shape), "dtype": str(value.dtype), "file": file}


def write_case(net, tolerance, root, flatc):
    folder = os.path.join(root, net.name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    model = os.path.join(folder, "model.mnn")
    build(net, model, flatc)
    with tempfile.TemporaryDirectory() as scratch:
        results = official(net, model, scratch)
    arrays = {}
    description = {"model": "model.mnn", "inputs": [entry(arrays, "in", k, v) for k, v in net.inputs.items()],
                   "outputs": [entry(arrays, "out", k, v) for k, v in results.items()],
                   "tolerance": {"relative_to_max": tolerance}}
    case_files.write(folder, description, arrays)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose name matches this expression")
    parser.add_argument("--flatc", default=shutil.which("flatc"))
    parser.add_argument("output", nargs="?", default=os.path.join(HERE, "cases"))
    options = parser.parse_args()
    for name, function, tolerance in CASES:
        if re.search(options.only, name):
            net = Net(name)
            function(net)
            write_case(net, tolerance, options.output, options.flatc)


if __name__ == "__main__":
    main()
