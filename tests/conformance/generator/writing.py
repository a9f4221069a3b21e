"""Writes the folder of a case: the converted model and case.npz."""
import os
import shutil
import tempfile

import numpy as np
import onnx

import case_files
from generator.arrays import entry
from generator.expected import apart, evaluate, stored
from generator.official import worker

OFFICIAL_BOUND = 2e-3  # a distance to the official runtime that is not reported


def write_case(net, root, report):
    folder = os.path.join(root, net.name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    model = net.model()
    feed = {k: v.astype(net.types[k]) for k, v in net.data.items()}
    with tempfile.TemporaryDirectory() as scratch:
        path, target = os.path.join(scratch, "net.onnx"), os.path.join(folder, "model.mnn")
        onnx.save(model, path)
        code, text = worker(scratch, step="convert", onnx=path, mnn=target, flags=net.flags)
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
