#!/usr/bin/env python3
"""Converts the nets of cases to static models with the official converter, and compares both forms in this library.

usage: static_forms.py [--backend cpu|vulkan] [--only REGEX] [--all] [--keep FOLDER] [CASES_FOLDER ...]

    pip install MNN numpy
    MNN_C_LIBRARY=build/release/libmnn_c.so static_forms.py

A static model (mnnconvert --saveStaticModel) has to give the numbers of its ordinary form, within the tolerance of the
case. Where it does not, the official runtime computes both forms, and a line says what became of the net:

    not converted   the converter crashes or writes no operators
    damaged         the official runtime fails on the static file, or computes something else than from the ordinary one
    official        the static file holds what the official runtime makes of the ordinary one, which differs here
    described       the same elements in the extents that the file describes, or rows without a result behind them
    WRONG           the official runtime gives the numbers of the ordinary form from the static file, this library does not

The last lines count them; --all prints equal nets, too, and --keep keeps the static files. Exits with 1 where one is WRONG,
with 77 without the official converter. Folders are searched for cases; the default is cases/ beside this file.
"""
import argparse
import collections
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "bindings/python/src"))
try:
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
import case_files  # noqa: E402

SECONDS = 60
# The official runtime reads memory in front of a tensor, and finds the right bytes there by chance, except with floats.
BY_CHANCE = {("space__to_batch_uint8", "columns_back")}
CONVERT = """
import sys, MNN, _tools
_tools.mnnconvert(["mnnconvert", "-f", "MNN", *sys.argv[1:]])
"""
# A process of its own: damaged files crash the official runtime. Arguments: the model, .npz files of inputs and outputs,
# names of outputs.
OFFICIAL = """
import sys, numpy as np, MNN
feed = dict(np.load(sys.argv[2]))
if any(value.dtype == np.int8 for value in feed.values()):  # which tensors of this interface are not
    import MNN.expr, MNN.nn
    outputs = sys.argv[4:]
    net = MNN.nn.load_module_from_file(sys.argv[1], list(feed), outputs)
    types = {"float32": MNN.expr.float, "int32": MNN.expr.int, "uint8": MNN.expr.uint8, "int8": MNN.expr.int8}
    found = net.forward([MNN.expr.const(v.flatten().tolist() if v.shape else [v.item()], list(v.shape), MNN.expr.NCHW,
                                        types[str(v.dtype)]) for v in feed.values()])
    found = found if isinstance(found, (list, tuple)) else [found]
    found = [MNN.expr.convert(r, MNN.expr.NCHW) if r.data_format == MNN.expr.NC4HW4 else r for r in found]
    np.savez(sys.argv[3], **{n: np.array(r.read()).reshape(r.shape) for n, r in zip(outputs, found)})
    sys.exit()
kinds = {"float32": MNN.Halide_Type_Float, "int32": MNN.Halide_Type_Int, "uint8": MNN.Halide_Type_Uint8}
dtypes = {kind: name for name, kind in kinds.items()}
net = MNN.Interpreter(sys.argv[1])
session = net.createSession({"backend": "CPU", "numThread": 1, "precision": "high"})
for name, tensor in net.getSessionInputAll(session).items():
    if name in feed and feed[name].shape and tuple(tensor.getShape()) != feed[name].shape:
        net.resizeTensor(tensor, feed[name].shape)
net.resizeSession(session)
def plain(tensor):
    kind = tensor.getDimensionType()
    return MNN.Tensor_DimensionType_Caffe if kind == MNN.Tensor_DimensionType_Caffe_C4 else kind
for name, tensor in net.getSessionInputAll(session).items():
    if name in feed:
        shape = feed[name].shape or (1,)
        tensor.copyFrom(MNN.Tensor(shape, kinds[str(feed[name].dtype)], feed[name].reshape(shape), plain(tensor)))
net.runSession(session)
results = {}
for name, tensor in net.getSessionOutputAll(session).items():
    shape = tuple(tensor.getShape())
    if tensor.getDataType() not in dtypes or min(shape, default=1) < 0:
        continue
    zeros = np.zeros(shape or (1,), dtypes[tensor.getDataType()])
    host = MNN.Tensor(zeros.shape, tensor.getDataType(), zeros, plain(tensor))
    tensor.copyToHostTensor(host)
    results[name] = np.array(host.getNumpyData()).reshape(shape)
np.savez(sys.argv[3], **results)
"""


def found_cases(folders):
    """The case folders below these, with a name for each."""
    for root in folders:
        root = pathlib.Path(root).resolve()
        for folder, below, _ in sorted(os.walk(root)):
            if case_files.is_case(folder):
                below.clear()
                yield str(pathlib.Path(folder).relative_to(root)) if folder != str(root) else root.name, folder


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1][:100] if lines else ""


def convert(model, feed, target):
    """Returns why there is no static file, or None. Net inputs get the shapes of the case; some nets can be converted
    only without them."""
    config = target + ".txt"
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"input_size = {len(feed)}\ninput_names = {','.join(feed)}\n"
                   f"input_dims = {','.join('x'.join(map(str, value.shape)) for value in feed.values())}\n")
    reason = ""
    for shapes in (["--inputConfigFile", config], []):
        try:
            done = subprocess.run([sys.executable, "-c", CONVERT, "--modelFile", model, "--MNNModel", target,
                                   "--saveStaticModel", *shapes], capture_output=True, text=True, errors="replace",
                                  timeout=SECONDS, check=False, cwd=os.path.dirname(target))
        except subprocess.TimeoutExpired:
            reason = "the converter does not end"
            continue
        if os.path.exists(target):
            return None
        reason = f"the converter ends with {done.returncode}: {last_line(done.stdout)}"
    return reason


def run_here(net, feed, backend, **config):
    """Outputs by name."""
    import mnn_c
    forward = mnn_c.Forward.VULKAN if backend == "vulkan" else mnn_c.Forward.CPU
    session = net.session(forward_type=forward, allow_fallback=True, **config)
    known = {i.name: i for i in net.inputs}
    wanted = {name: value for name, value in feed.items() if name in known}
    if any(tuple(known[name].shape) != value.shape for name, value in wanted.items()):
        session.resize({name: value.shape for name, value in wanted.items()})
    return session.run(wanted)


def run_static(net, feed, backend):
    """Returns outputs by name, or why one cannot be computed: a damaged operator does not affect the others."""
    import mnn_c
    try:
        return run_here(net, feed, backend)
    except mnn_c.Error:
        results = {}
    for name in net.outputs:
        try:
            results[name] = run_here(net, feed, backend, outputs=(name,))[name]
        except mnn_c.Error as error:
            results[name] = str(error)
    return results


def run_official(model, feed, scratch, names):
    """Returns outputs by name, or why there are none."""
    inputs, outputs = os.path.join(scratch, "in.npz"), os.path.join(scratch, "out.npz")
    np.savez(inputs, **feed)
    if os.path.exists(outputs):
        os.remove(outputs)
    try:
        done = subprocess.run([sys.executable, "-c", OFFICIAL, model, inputs, outputs, *names], capture_output=True, text=True,
                              errors="replace", timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "it does not end"
    if not os.path.exists(outputs):
        return f"it ends with {done.returncode}: {last_line(done.stderr)}"
    with np.load(outputs) as file:
        return dict(file)


def apart(a, b, tolerance):
    """Returns how two arrays differ, or None."""
    if a.shape != b.shape:
        return f"{'x'.join(map(str, a.shape))} for {'x'.join(map(str, b.shape))}"
    if not a.size or np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f"):
        return None
    a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(a - b).max() / (np.abs(b[np.isfinite(b)]).max(initial=0) or 1)
    return None if error <= tolerance else f"off by {error:.1e}"


def is_described(static, ordinary, tolerance):
    """Returns whether only extents differ: with the same elements, or with rows behind those that a search found."""
    rows = ordinary.shape[0] if ordinary.ndim == static.ndim > 0 and ordinary.shape[1:] == static.shape[1:] else None
    same = static[:rows] if rows is not None else static.reshape(ordinary.shape) if static.size == ordinary.size else None
    return same is not None and apart(same, ordinary, tolerance) is None


def judge(difference, name, ordinary, official, tolerance):
    """Judges an output that differs from that of the ordinary form."""
    of_ordinary, of_static = official
    if isinstance(of_static, str) or name not in of_static:
        return "damaged", f"{difference}; official runtime on the static file: {of_static}"
    theirs = apart(of_static[name], ordinary, max(tolerance, 2e-3))
    if theirs is None:
        return "WRONG", difference
    if isinstance(of_ordinary, str) or name not in of_ordinary:
        return "damaged", f"{difference}; official runtime {theirs}"
    if apart(of_static[name], of_ordinary[name], max(tolerance, 2e-3)) is None:
        return "official", f"{difference}; official runtime on both forms {theirs}"
    return "damaged", f"{difference}; official runtime on the static file {theirs}"


def compare(folder, options, scratch):
    """Returns (the verdict on the net, details)."""
    description = case_files.describe(folder)
    feed = {i["name"]: np.load(io.BytesIO(case_files.read(folder, i["file"]))) for i in description["inputs"]}
    model, target = os.path.join(folder, description["model"]), os.path.join(scratch, "model.mnn")
    reason = convert(model, feed, target)
    if reason:
        return "not converted", reason
    import mnn_c
    tolerance = description.get("tolerance", {}).get("relative_to_max", 1e-4)
    ordinary = run_here(mnn_c.Interpreter(model), feed, options.backend)
    try:
        net = mnn_c.Interpreter(target)
    except mnn_c.Error as error:
        if "no operator list" in str(error):
            return "not converted", "the file has no operators"
        static, used = dict.fromkeys(ordinary, str(error)), feed
    else:
        static = run_static(net, feed, options.backend)
        used = {i.name: feed[i.name] for i in net.inputs if i.name in feed}
    official, verdicts = None, {}
    for name, value in ordinary.items():
        if name not in static:
            if value.size:
                verdicts[name] = ("lost", "the file has no such output")
            continue
        failed = isinstance(static[name], str)
        difference = static[name] if failed else apart(static[name], value, tolerance)
        if difference is None:
            continue
        if not failed and is_described(static[name], value, tolerance):
            verdicts[name] = ("described", difference)
            continue
        if official is None:
            official = run_official(model, feed, scratch, list(ordinary)), run_official(target, used, scratch, list(static))
        verdicts[name] = judge(difference, name, value, official, tolerance)
        if verdicts[name][0] == "WRONG" and (os.path.basename(folder), name) in BY_CHANCE:
            verdicts[name] = "damaged", f"{difference}; right by chance with the official runtime"
    for kind in ("WRONG", "damaged", "official", "described", "lost"):
        for name, (found, text) in verdicts.items():
            if found == kind:
                return kind, f"{name}: {text}"
    return "equal", ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="cpu", choices=("cpu", "vulkan"))
    parser.add_argument("--only", default="", help="cases whose name matches this expression")
    parser.add_argument("--all", action="store_true", help="print equal nets, too")
    parser.add_argument("--keep", help="a folder for the static files")
    parser.add_argument("folders", nargs="*", default=[HERE / "cases"])
    options = parser.parse_args()
    if subprocess.run([sys.executable, "-c", "import MNN, _tools"], capture_output=True, check=False).returncode:
        print("skipped: the official converter (MNN) is not installed")
        sys.exit(77)
    counts = collections.Counter()
    for name, folder in found_cases(options.folders):
        if not re.search(options.only, name):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            kind, text = compare(folder, options, scratch)
            if options.keep and os.path.exists(os.path.join(scratch, "model.mnn")):
                kept = os.path.join(options.keep, name)
                os.makedirs(kept, exist_ok=True)
                shutil.copy(os.path.join(scratch, "model.mnn"), kept)
        counts[kind] += 1
        if kind != "equal" or options.all:
            print(f"{name:<45} {kind:<14} {text}", flush=True)
    print(json.dumps(counts))
    sys.exit(1 if counts["WRONG"] or not counts else 0)


if __name__ == "__main__":
    main()
