#!/usr/bin/env python3
"""Makes the nets that compare.py runs, each in the form every engine reads.

    python3 benchmarks/make_models.py --output DIR --torch-python python3 [--cases DIR] [--models a,b]

A net is a folder: case.json, in_*.npy and out_*.npy (torch in float64) as `mnn verify` wants them, model.mnn,
model.onnx, model.ncnn.param and model.ncnn.bin. Folders NAME_b8 hold a net for a batch of 8 (not for ncnn, which has no
batch), folders NAME_w8 int8 weights in model.mnn, and folders NAME_int8 static quantisation, by MNN in model.mnn and by
ONNX Runtime in model.onnx. Weights are seeded, not trained: the same command makes the same nets. The tiny nets are
taken from --cases, folders that hold them already.

Needs the packages MNN, onnx, onnxruntime, numpy and pnnx here, and torch and torchvision in --torch-python
(default: this interpreter). Of pnnx the program inside is enough: `pip install --no-deps pnnx`. What cannot be made
is left out and named at the end; the exit code is then 1.
"""

import argparse
import json
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from zoo import converters, names

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "tests", "conformance"))
import case_files  # noqa: E402

TOLERANCE = {"w8": 5e-2, "int8": 1e-1}  # relative to the largest output; the reference is float64 on float weights
FLOAT_TOLERANCE = 1e-4


class Maker:
    def __init__(self, args):
        self.args = args
        self.missing = []

    def folder(self, name):
        path = os.path.join(self.args.output, name)
        os.makedirs(path, exist_ok=True)
        return path

    def attempt(self, what, function, *arguments):
        """Runs a step; a failure is printed now and at the end, and the net lacks that form."""
        try:
            function(*arguments)
            return True
        except Exception as error:  # any kind of exception: converters raise many
            self.missing.append(f"{what}: {error}")
            print(f"missing  {self.missing[-1]}", flush=True)
            return False

    def export(self, name):
        """Exports the net with torch."""
        script = os.path.join(HERE, "zoo", "torch_nets.py")
        source, batch = names.source_of(name)
        folder = self.folder(name)
        converters.call([self.args.torch_python, script, source, folder, str(batch)], os.path.join(folder, "case.json"))

    def case(self, name, source):
        """Completes the case.json that the float net's export wrote, or copies it with its tensors."""
        folder, origin = self.folder(name), self.folder(source)
        with open(os.path.join(origin, "case.json")) as file:
            case = json.load(file)
        if name != source:
            for entry in case["inputs"] + case["outputs"]:
                shutil.copy(os.path.join(origin, entry["file"]), folder)
        case["tolerance"] = {"relative_to_max": TOLERANCE.get(names.group_of(name), FLOAT_TOLERANCE)}
        with open(os.path.join(folder, "case.json"), "w") as file:
            json.dump(case, file, indent=1)
        return case

    def float_net(self, name):
        folder = self.folder(name)
        onnx = os.path.join(folder, "model.onnx")
        whole = all(os.path.exists(os.path.join(folder, file)) for file in ("model.onnx", "case.json"))
        if self.args.keep and whole or self.attempt(name, self.export, name):
            inputs = self.case(name, name)["inputs"]
            self.attempt(name + " for MNN", converters.mnn_from_onnx, onnx, os.path.join(folder, "model.mnn"))
            if not self.args.without_ncnn and names.group_of(name) != "batch":
                self.attempt(name + " for ncnn", converters.ncnn_from_onnx, self.args.pnnx, onnx, folder, inputs)
            print(f"made     {name}", flush=True)

    def quantised_net(self, name, group):
        source = name[: -len(group) - 1]
        origin, folder = self.folder(source), self.folder(name)
        onnx, mnn = os.path.join(origin, "model.onnx"), os.path.join(folder, "model.mnn")
        if not os.path.exists(onnx):
            self.missing.append(f"{name}: {source} is missing")
            return
        self.case(name, source)
        if group == "w8":
            self.attempt(name, converters.mnn_from_onnx, onnx, mnn, "--weightQuantBits", "8")
        else:
            array = np.load(os.path.join(origin, "in_input.npy"))
            quantised = os.path.join(folder, "model.onnx")
            self.attempt(name + " for ONNX Runtime", converters.int8_onnx, onnx, quantised, array)
            float_mnn = os.path.join(origin, "model.mnn")
            batches = converters.calibration_batches(array)
            self.attempt(name + " for MNN", converters.int8_mnn, float_mnn, mnn, batches)
        print(f"made     {name}", flush=True)

    def tiny_net(self, name):
        source = self.args.cases and os.path.join(self.args.cases, name)
        if not source or not case_files.is_case(source):
            self.missing.append(f"{name}: --cases has no such folder" if source else f"{name}: no --cases given")
            return
        for file in os.listdir(source):
            shutil.copyfile(os.path.join(source, file), os.path.join(self.folder(name), file))
        print(f"taken    {name}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True, metavar="DIR")
    parser.add_argument("--torch-python", default=sys.executable, help="interpreter that has torch and torchvision")
    parser.add_argument("--pnnx", default=converters.find_pnnx(), help="the converter for ncnn")
    parser.add_argument("--without-ncnn", action="store_true", help="do not convert for ncnn")
    parser.add_argument("--cases", metavar="DIR", help="folders with the tiny nets")
    parser.add_argument("--models", help="only these nets or groups, separated by commas")
    parser.add_argument("--keep", action="store_true", help="do not export again what has an ONNX file")
    parser.add_argument("--jobs", type=int, default=1, help="nets made at once")
    args = parser.parse_args()
    wanted = args.models.split(",") if args.models else names.USUAL
    wanted = [name for each in wanted for name in names.GROUPS.get(each, [each])]
    unknown = [name for name in wanted if names.group_of(name) == "other"]
    if unknown:
        parser.error("not in the fixed list: " + ", ".join(unknown))
    maker = Maker(args)
    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(maker.float_net, [name for name in wanted if names.group_of(name) in names.EXPORTED]))
    for name in wanted:
        if names.group_of(name) == "tiny":
            maker.tiny_net(name)
        elif names.group_of(name) in ("w8", "int8"):
            maker.quantised_net(name, names.group_of(name))
    print("\n".join(["missing:"] + maker.missing) if maker.missing else "all made")
    return 1 if maker.missing else 0


if __name__ == "__main__":
    sys.exit(main())
