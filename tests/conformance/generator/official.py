"""The official converter and runtime, in a separate process, because some nets crash them."""
import json
import os
import subprocess
import sys

WORKER = r"""
import json, sys
import numpy as np
job = json.load(open(sys.argv[1]))
import MNN, _tools
import MNN.nn, MNN.expr
if job["step"] == "convert":
    _tools.mnnconvert(["mnnconvert", "-f", "ONNX", "--modelFile", job["onnx"], "--MNNModel", job["mnn"], "--bizCode",
                       "test", *job["flags"]])
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
