"""Converts an ONNX file to the form that each engine reads. A converter that fails raises RuntimeError with its last
line."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

# The converter ends its process on some errors, so it runs in a process of its own.
MNN_TOOL = "import sys, MNN, _tools; getattr(_tools, sys.argv[1])(sys.argv[1:])"


def forget(path):
    """Removes the file of an earlier call, which must not pass for the result of this one."""
    if os.path.exists(path):
        os.remove(path)


def call(command, made, cwd=None):
    """Runs a converter, which has to write the file `made`."""
    forget(made)
    done = subprocess.run(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    if done.returncode != 0 or not os.path.exists(made):
        last = (done.stdout.strip().splitlines() or ["it said nothing"])[-1]
        raise RuntimeError(f"{os.path.basename(command[0])} ended with {done.returncode}: {last}")


def mnn_from_onnx(onnx, mnn, *options):
    arguments = ["mnnconvert", "-f", "ONNX", "--modelFile", os.path.abspath(onnx), "--bizCode", "nets"]
    arguments += ["--MNNModel", os.path.abspath(mnn), *options]
    # The tool keeps weights in a file of a fixed name in its working folder, so two calls at once would mix them.
    with tempfile.TemporaryDirectory() as scratch:
        call([sys.executable, "-c", MNN_TOOL, *arguments], mnn, scratch)


def find_pnnx():
    """Returns the program inside of the package: it needs no torch, while its Python wrapper does."""
    spec = importlib.util.find_spec("pnnx")
    inside = spec and os.path.join(os.path.dirname(spec.origin), "pnnx")
    return inside if inside and os.path.exists(inside) else shutil.which("pnnx")


def ncnn_from_onnx(pnnx, onnx, folder, inputs):
    """inputs: their entries of case.json."""
    for kind in ("param", "bin"):
        forget(os.path.join(folder, "model.ncnn." + kind))
    if not pnnx:
        raise RuntimeError("pnnx is not there (package pnnx, or --pnnx)")
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copy(onnx, os.path.join(scratch, "net.onnx"))
        kinds = {"float32": "f32", "int32": "i32"}
        dims = ",".join(f"[{','.join(map(str, entry['shape']))}]{kinds[entry['dtype']]}" for entry in inputs)
        made = os.path.join(scratch, "net.ncnn.param")
        call([os.path.abspath(pnnx), "net.onnx", "inputshape=" + dims, "fp16=0"], made, scratch)
        with open(made) as graph:
            if any(line.startswith(("pnnx.", "aten::", "prim::", "F.", "nn.", "torch.", "Tensor.")) for line in graph):
                raise RuntimeError("pnnx left operators in the graph that ncnn does not have")
        for kind in ("param", "bin"):
            shutil.move(os.path.join(scratch, "net.ncnn." + kind), os.path.join(folder, "model.ncnn." + kind))


def calibration_batches(array, count=8):
    """Returns inputs like the given one. Seeded weights know no images, so noise of the same kind is a fair
    calibration."""
    random = np.random.default_rng(1)
    return [array] + [random.standard_normal(array.shape).astype(np.float32) for _ in range(count - 1)]


def int8_onnx(onnx, quantised, array):
    """ONNX Runtime's static quantisation: QDQ form, signed weights per channel, unsigned activations."""
    from onnxruntime import quantization as quant

    class Reader(quant.CalibrationDataReader):
        def __init__(self):
            self.batches = iter(calibration_batches(array))

        def get_next(self):
            batch = next(self.batches, None)
            return None if batch is None else {"input": batch}

    forget(quantised)
    with tempfile.TemporaryDirectory() as scratch:
        prepared = os.path.join(scratch, "prepared.onnx")
        quant.shape_inference.quant_pre_process(onnx, prepared, skip_symbolic_shape=True)  # shapes are fixed
        quant.quantize_static(
            prepared, quantised, Reader(), quant_format=quant.QuantFormat.QDQ, per_channel=True,
            activation_type=quant.QuantType.QUInt8, weight_type=quant.QuantType.QInt8,
        )  # fmt: skip


def int8_mnn(mnn, quantised, batches, name="input", outputs=("output",)):
    """MNN's own static quantisation of a net with one input. Its tool reads inputs as text files, in a folder."""
    forget(quantised)
    shape = list(batches[0].shape)
    with tempfile.TemporaryDirectory() as scratch:
        data = os.path.join(scratch, "data")
        os.mkdir(data)
        for index, batch in enumerate(batches):
            folder = os.path.join(data, str(index))
            os.mkdir(folder)
            batch.reshape(-1).tofile(os.path.join(folder, name + ".txt"), sep="\n")
            with open(os.path.join(folder, "input.json"), "w") as file:
                json.dump({"inputs": [{"name": name, "shape": shape}], "outputs": list(outputs)}, file)
        config = {
            "path": data, "used_sample_num": len(batches), "input_type": "sequence", "batch_size": 1,
            "feature_quantize_method": "KL", "weight_quantize_method": "MAX_ABS", "width": shape[3],
            "height": shape[2], "format": "RGB", "mean": [0, 0, 0], "normal": [1, 1, 1],
            "model": os.path.abspath(mnn),
        }  # fmt: skip
        path = os.path.join(scratch, "config.json")
        with open(path, "w") as file:
            json.dump(config, file)
        made = os.path.join(scratch, "quantised.mnn")
        call([sys.executable, "-c", MNN_TOOL, "mnnquant", os.path.abspath(mnn), made, path], made, scratch)
        shutil.move(made, quantised)
