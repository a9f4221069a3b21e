#!/usr/bin/env python3
"""Quantises nets that export_nets.py wrote with onnxruntime's tools, in QDQ and QOperator form, and compares what this library makes
of the files with onnxruntime: the distance to the net of floats is at most 1.05 times onnxruntime's, and operators run with codes.

    quantised_nets.py NETS FOLDER [REGEX]

NETS: what export_nets.py wrote; FOLDER: for the quantised files. The package mnn_c and its libraries are found as its README
says. Exit code 1: a net is not right.
"""
import pathlib
import re
import sys
import tempfile
import warnings

import mnn_c
import mnn_c.onnx
import numpy as np
import onnx
import onnx.version_converter
import onnxruntime
from onnxruntime import quantization as quant

INT8, UINT8 = quant.QuantType.QInt8, quant.QuantType.QUInt8
QDQ, QOPERATOR = quant.QuantFormat.QDQ, quant.QuantFormat.QOperator
# net, form, a scale for each channel, type of activations, of weights
NETS = (
    ("zoo_mobilenet_v2", QDQ, True, UINT8, INT8), ("zoo_resnet18", QDQ, False, INT8, INT8),
    ("zoo_squeezenet1_1", QOPERATOR, False, UINT8, UINT8), ("zoo_resnet50", QOPERATOR, True, UINT8, INT8),
    ("zoo_mobilenet_v3_large", QDQ, True, UINT8, INT8), ("zoo_efficientnet_b0", QDQ, True, INT8, INT8),
    ("zoo_shufflenet_v2_x1_0", QDQ, False, UINT8, UINT8), ("zoo_unet", QDQ, True, INT8, INT8),
    ("zoo_googlenet", QOPERATOR, True, INT8, INT8), ("zoo_densenet121", QDQ, True, UINT8, INT8),
    ("zoo_regnet_y_400mf", QOPERATOR, True, UINT8, INT8), ("zoo_vit_small_224", QDQ, True, UINT8, INT8),
)
MAX_RATIO = 1.05
# The number of inputs whose distances are averaged: with four, the mean of equal roundings goes from 0.94 to 1.06.
RUNS = 32


def batches(session, count, seed):
    random = np.random.default_rng(seed)
    shapes = {one.name: [extent if isinstance(extent, int) else 1 for extent in one.shape] for one in session.get_inputs()}
    return [{name: random.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()} for _ in range(count)]


class Reader(quant.CalibrationDataReader):
    def __init__(self, feeds):
        self.feeds = iter(feeds)

    def get_next(self):
        return next(self.feeds, None)


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def quantise(source, target, feeds, form, channels, activations, weights):
    with tempfile.TemporaryDirectory() as scratch:
        prepared = pathlib.Path(scratch) / "prepared.onnx"
        model = onnx.load(source)
        if model.opset_import[0].version < 13:  # scales for channels
            source = pathlib.Path(scratch) / "newer.onnx"
            onnx.save(onnx.version_converter.convert_version(model, 13), source)
        quant.shape_inference.quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        quant.quantize_static(str(prepared), str(target), Reader(feeds), quant_format=form, per_channel=channels,
                              activation_type=activations, weight_type=weights,
                              extra_options={"ActivationSymmetric": activations == INT8})


def distance(found, wanted):
    return float(np.sqrt(sum(np.sum((a.astype(float) - b) ** 2) for a, b in zip(found, wanted))))


def check(source, target, form):
    judge, exact = session_of(target), session_of(source)
    names = [one.name for one in judge.get_outputs()]
    feeds = batches(exact, RUNS, 7)
    report = mnn_c.onnx.convert(str(target), str(target.with_suffix(".mnn"))).report
    session = mnn_c.Interpreter(str(target.with_suffix(".mnn"))).session()
    ours = theirs = apart = size = 0.0
    for feed in feeds:
        truth = exact.run(names, feed)
        other = judge.run(names, feed)
        found = session.run(feed)
        found = [found[name] for name in names]
        ours += distance(found, truth)
        theirs += distance(other, truth)
        apart += distance(found, other)
        size += distance(truth, [np.zeros(1)])
    codes = [op for op in session.ops() if "int8" in (op.algorithm or "") or "Int8" in op.type_name]
    return ours / theirs, theirs / size, apart / size, len(codes), report


def main():
    warnings.filterwarnings("ignore")
    nets, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    wrong = []
    for name, form, channels, activations, weights in NETS:
        if len(sys.argv) > 3 and not re.search(sys.argv[3], name):
            continue
        source, target = nets / f"{name}.onnx", folder / f"{name}.onnx"
        if not target.exists():
            quantise(source, target, batches(session_of(source), 6, 1), form, channels, activations, weights)
        kinds = {node.op_type for node in onnx.load(target, load_external_data=False).graph.node}
        if (form == QOPERATOR) != any(kind.startswith("QLinear") for kind in kinds):
            wrong.append(f"{name} has {sorted(kinds)}, which is another form")
        ratio, noise, apart, codes, report = check(source, target, form)
        print(f"{name}: {ratio:.3f} of onnxruntime's distance ({noise:.3f} of the net of floats), {apart:.4f} from onnxruntime, "
              f"{codes} operators with codes", *report.notes, sep="\n    ", flush=True)
        if not ratio <= MAX_RATIO or codes < 5:
            wrong.append(f"{name}: {ratio:.3f} of onnxruntime's distance, {codes} operators with codes")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
