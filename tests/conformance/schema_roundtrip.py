#!/usr/bin/env python3
"""Writes a small net with schema/mnn.fbs and has the official tools read and run it.

Proves that our slots, defaults and union numbers are those of the reference, in the writing direction;
reading is proved by every conformance model. Exit status 77 (skip) when MNN or flatc is not there.
Usage: schema_roundtrip.py [--flatc FLATC] [--schema FILE]
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]


def make_net():
    """y = relu(conv1x1(x)) + c: scalars with defaults, unions, vectors of every common type."""
    conv = {
        "common": {"inputCount": 2, "outputCount": 2, "relu": True, "pads": [0, 0, 0, 0]},
        "weight": [1.0, 2.0, -3.0, 4.0],
        "bias": [0.5, -0.5],
    }
    ops = [
        {"type": "Input", "name": "x", "outputIndexes": [0], "main_type": "Input",
         "main": {"dims": [1, 2, 1, 3], "dformat": "NCHW"}},
        {"type": "Const", "name": "c", "outputIndexes": [1], "main_type": "Blob",
         "main": {"dims": [1, 2, 1, 1], "float32s": [10.0, 20.0]}},
        {"type": "Convolution", "name": "conv", "inputIndexes": [0], "outputIndexes": [2],
         "main_type": "Convolution2D", "main": conv},
        {"type": "BinaryOp", "name": "y", "inputIndexes": [2, 1], "outputIndexes": [3],
         "main_type": "BinaryOp", "main": {"opType": "ADD", "T": "DT_FLOAT"}},
    ]
    return {
        "oplists": ops,
        "tensorName": ["x", "c", "conv", "y"],
        "outputName": ["y"],
        "sourceType": "ONNX",
        "bizCode": "roundtrip",
        "mnn_uuid": "00000000-0000-4000-8000-000000000000",
        "extraInfo": {"version": "3.6.1"},
    }


def expected(x):
    rows = [x[0:3], x[3:6]]
    conv = [[w0 * a + w1 * b + bias for a, b in zip(*rows)]
            for (w0, w1), bias in (((1.0, 2.0), 0.5), ((-3.0, 4.0), -0.5))]
    return [max(v, 0.0) + c for row, c in zip(conv, (10.0, 20.0)) for v in row]


def check_json(dumped):
    """Checks that the official dump has everything that was written, under the same names."""
    ops = dumped["oplists"]
    assert [op["type"] for op in ops] == ["Input", "Const", "Convolution", "BinaryOp"], ops
    assert [op["main_type"] for op in ops] == ["Input", "Blob", "Convolution2D", "BinaryOp"], ops
    assert ops[2]["main"]["weight"] == [1.0, 2.0, -3.0, 4.0], ops[2]
    assert ops[2]["main"]["common"]["relu"] is True, ops[2]
    assert dumped["tensorName"] == ["x", "c", "conv", "y"], dumped
    assert dumped["bizCode"] == "roundtrip", dumped


def run_net(mnn, path):
    x = [1.0, -2.0, 3.0, 0.5, 4.0, -1.0]
    net = mnn.Interpreter(str(path))
    session = net.createSession()
    shape = (1, 2, 1, 3)
    data = mnn.Tensor(shape, mnn.Halide_Type_Float, tuple(x), mnn.Tensor_DimensionType_Caffe)
    net.getSessionInput(session).copyFrom(data)
    net.runSession(session)
    output = net.getSessionOutput(session)
    host = mnn.Tensor(shape, mnn.Halide_Type_Float, tuple([0.0] * 6), mnn.Tensor_DimensionType_Caffe)
    output.copyToHostTensor(host)
    found = [float(v) for v in host.getData()]
    wanted = expected(x)
    assert len(found) == 6 and all(abs(a - b) < 1e-4 for a, b in zip(found, wanted)), (found, wanted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flatc", default=shutil.which("flatc"))
    parser.add_argument("--schema", default=str(ROOT / "schema" / "mnn.fbs"))
    arguments = parser.parse_args()
    try:
        import MNN
        import _tools
    except ImportError as error:
        print(f"skipped: {error}")
        return SKIP
    if not arguments.flatc:
        print("skipped: no flatc")
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "net.json").write_text(json.dumps(make_net()))
        subprocess.run([arguments.flatc, "--no-warnings", "--binary", "-o", str(folder), arguments.schema,
                        str(folder / "net.json")], check=True)
        model = folder / "net.bin"
        dump = folder / "dump.json"
        _tools.mnnconvert(["mnnconvert", "-f", "MNN", "--modelFile", str(model), "--JsonFile", str(dump)])
        check_json(json.loads(dump.read_text()))
        run_net(MNN, model)
    print("ok: the official tools read, dump and run a net written with our schema")
    return 0


if __name__ == "__main__":
    sys.exit(main())
