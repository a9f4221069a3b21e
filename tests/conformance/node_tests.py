#!/usr/bin/env python3
"""Converts the node tests of ONNX with the official converter, and runs them with this library and the official runtime.

usage: node_tests.py --library LIBMNN_C.SO [--only REGEX] [--official] [--list FILE] [--check FILE] [--store FOLDER]

A test passes when types, shapes and values agree: 1e-4 of the largest element, integers exactly. --list writes a line for
each test: its name and what became of it. --check compares with such a list and fails where a test that agreed there does
not agree now. --store makes a conformance case of each test that agrees, for those that ctest runs. Needs MNN (the
official wheel), onnx and numpy. Every test runs in a process of its own: some files crash the official converter and
runtime.
"""
import argparse
import ctypes
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import warnings

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bindings/python/src/mnn_c"))
import case_files
from _abi import TensorProperties
from generator.arrays import entry

TOLERANCE = 1e-4
SECONDS = 60
MEMORY = 4 << 30  # of a process: some files make the official runtime allocate all memory
TYPES = {1: np.float32, 3: np.int32, 4: np.uint8, 5: np.int16, 6: np.int8, 14: np.uint16, 17: np.uint16}
MAX_RANK = 9
OTHER = "no tensors of numbers"
NOT_CONVERTED = "not converted"


def as_stored(value):
    """Returns an array in the type that a converted file uses for it; None where there is none."""
    import onnx
    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    elif np.isscalar(value):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype.name == "bfloat16":
        value = value.astype(np.float32)
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiub":
        return None
    if value.dtype in (np.uint8, np.int8):
        return np.ascontiguousarray(value).reshape(value.shape)
    return np.ascontiguousarray(value.astype(np.float32 if value.dtype.kind == "f" else np.int32)).reshape(value.shape)


def distance(ours, expected):
    if ours.dtype != expected.dtype:
        return f"type {ours.dtype}, expected {expected.dtype}"
    if ours.shape != expected.shape:
        return f"shape {list(ours.shape)}, expected {list(expected.shape)}"
    if ours.dtype.kind != "f":
        return None if np.array_equal(ours, expected) else "other integers"
    a, b = ours.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(np.where(finite, 0, a), np.where(finite, 0, b), equal_nan=True):
        return "other infinities or NaNs"
    if not finite.any():
        return None
    error = np.abs(np.where(finite, a - b, 0)).max() / (np.abs(b[finite]).max() or 1)
    return None if error <= TOLERANCE else f"off by {error:.1e}"


class Library:
    """A model in libmnn_c, through its C interface."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(os.path.abspath(path))
        self.lib.mnn_last_error.restype = ctypes.c_char_p

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.mnn_last_error().decode())

    def run(self, model, feed, outputs):
        lib, size = self.lib, ctypes.c_size_t
        interpreter, session = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(lib.mnn_interpreter_create_from_file(model.encode(), None, ctypes.byref(interpreter)))
        self.check(lib.mnn_session_create(interpreter, None, ctypes.byref(session)))
        inputs = []
        for name, value in feed.items():
            tensor = ctypes.c_void_p()
            if lib.mnn_session_input(session, name.encode(), ctypes.byref(tensor)):
                continue  # the converter dropped an input without a consumer
            dims = (ctypes.c_int32 * max(value.ndim, 1))(*value.shape)
            self.check(lib.mnn_session_resize_input(session, tensor, dims, size(value.ndim)))
            inputs.append((tensor, value))
        self.check(lib.mnn_session_resize(session))
        for tensor, value in inputs:
            self.check(lib.mnn_tensor_write(tensor, ctypes.c_void_p(value.ctypes.data), size(value.nbytes), 0))
        self.check(lib.mnn_session_run(session))
        return [self.read(session, name) for name in outputs]

    def read(self, session, name):
        tensor, dims = ctypes.c_void_p(), (ctypes.c_int32 * MAX_RANK)()
        rank, info = ctypes.c_size_t(), TensorProperties(ctypes.sizeof(TensorProperties))
        self.check(self.lib.mnn_session_output(session, name.encode(), ctypes.byref(tensor)))
        self.check(self.lib.mnn_tensor_shape(tensor, dims, ctypes.c_size_t(MAX_RANK), ctypes.byref(rank)))
        self.check(self.lib.mnn_tensor_info(tensor, ctypes.byref(info)))
        value = np.empty(tuple(dims[:rank.value]), TYPES[info.type])
        self.check(self.lib.mnn_tensor_read(tensor, ctypes.c_void_p(value.ctypes.data), ctypes.c_size_t(value.nbytes), 0))
        # A bfloat16 is the upper half of a float.
        return (value.astype(np.uint32) << 16).view(np.float32) if info.type == 14 else value


def official(model, feed, outputs):
    import MNN.expr
    import MNN.nn
    net = MNN.nn.load_module_from_file(model, list(feed), outputs)
    kinds = {"float32": MNN.expr.float, "int32": MNN.expr.int, "uint8": MNN.expr.uint8, "int8": MNN.expr.int8}
    values = [MNN.expr.const(v.flatten().tolist() if v.shape else [v.item()], list(v.shape), MNN.expr.NCHW,
                             kinds[str(v.dtype)]) for v in feed.values()]
    results = net.forward(values)
    results = results if isinstance(results, (list, tuple)) else [results]
    results = [MNN.expr.convert(r, MNN.expr.NCHW) if r.data_format == MNN.expr.NC4HW4 else r for r in results]
    return [np.array(r.read()).reshape(r.shape) for r in results]


def compared(run, *arguments):
    """Returns "agrees", or a sentence that names the difference or the failure."""
    *rest, expected = arguments
    results = run(*rest)
    if len(results) != len(expected):
        return f"differs: {len(results)} outputs, expected {len(expected)}"
    for ours, value in zip(results, expected):
        wrong = distance(ours, value)
        if wrong:
            return "differs: " + wrong
    return "agrees"


def in_child(function, folder):
    """Returns the function's result, computed in a separate process whose output is dropped; a sentence where it
    dies."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        os.chdir(folder)
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            text = function()
        except BaseException as error:  # includes the exits of the converter
            text = "refused: " + (str(error) or type(error).__name__).replace("\n", " ")
        os.write(writer, text.encode()[:4000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        text = stream.read().decode()
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"took more than {SECONDS} s" if number == signal.SIGALRM else f"crashes: signal {number}"
    return text


def convert(test, folder):
    import _tools
    import onnx
    onnx.save(test.model, os.path.join(folder, "net.onnx"))
    _tools.mnnconvert(["mnnconvert", "-f", "ONNX", "--modelFile", "net.onnx", "--MNNModel", "net.mnn", "--bizCode", "test"])
    return ""


def store(test, model, feed, outputs, truth, root):
    """The folder of a conformance case."""
    folder = os.path.join(root, "onnx__" + test.name.removeprefix("test_"))
    os.makedirs(folder, exist_ok=True)
    shutil.copy(model, os.path.join(folder, "model.mnn"))
    arrays = {}
    case_files.write(folder, {"model": "model.mnn", "tolerance": {"relative_to_max": TOLERANCE},
                              "inputs": [entry(arrays, "in", k, v) for k, v in feed.items()],
                              "outputs": [entry(arrays, "out", k, v) for k, v in zip(outputs, truth)]}, arrays)


def examine(test, library, with_official, root=None):
    """Returns (this library's result, the official runtime's) for one test."""
    given, expected = test.data_sets[0]
    initializers = {i.name for i in test.model.graph.initializer}
    names = [i.name for i in test.model.graph.input if i.name not in initializers]
    feed = {name: as_stored(v) for name, v in zip(names, given)}
    truth = [as_stored(v) for v in expected]
    if any(v is None for v in [*feed.values(), *truth]):
        return OTHER, OTHER
    outputs = [o.name for o in test.model.graph.output][:len(truth)]
    with tempfile.TemporaryDirectory() as folder:
        in_child(lambda: convert(test, folder), folder)
        model = os.path.join(folder, "net.mnn")
        if not os.path.exists(model):
            return NOT_CONVERTED, NOT_CONVERTED
        ours = in_child(lambda: compared(Library(library).run, model, feed, outputs, truth), folder)
        if root and ours == "agrees":
            store(test, model, feed, outputs, truth, root)
        theirs = in_child(lambda: compared(official, model, feed, outputs, truth), folder) if with_official else ""
    return ours, theirs


def tests(pattern):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases
        return [t for t in collect_testcases(None) if t.data_sets and re.search(pattern, t.name)]


def read_list(path):
    with open(path, encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("\t", 1) for line in file if not line.startswith("#"))


def summary(results):
    counts = {}
    for ours, _ in results.values():
        kind = ours.split(":")[0]
        counts[kind] = counts.get(kind, 0) + 1
    text = [f"{len(results)} tests: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))]
    right = [name for name, (_, theirs) in results.items() if theirs == "agrees"]
    if right:
        also = sum(results[name][0] == "agrees" for name in right)
        text.append(f"the official runtime agrees in {len(right)}, of which this library agrees in {also}")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libmnn_c.so")
    parser.add_argument("--only", default="", help="tests whose name matches this expression")
    parser.add_argument("--official", action="store_true", help="run the official runtime, too")
    parser.add_argument("--list", help="write what became of each test")
    parser.add_argument("--check", help="a list: what agreed there must agree")
    parser.add_argument("--store", help="make cases of the tests that agree in this folder")
    options = parser.parse_args()
    import MNN.expr  # before the processes are made
    results = {}
    chosen = tests(options.only)
    for number, test in enumerate(chosen):
        if sys.stderr.isatty() or number % 200 == 0:
            print(f"\r{number} of {len(chosen)}", end="", file=sys.stderr, flush=True)
        results[test.name] = examine(test, os.path.abspath(options.library), options.official, options.store)
        if options.only:
            print(test.name, *results[test.name], sep="\t")
    text = summary(results)
    print(*text, sep="\n")
    if options.list:
        with open(options.list, "w", encoding="utf-8") as file:
            file.writelines(f"# {line}\n" for line in text)
            for name, (ours, theirs) in sorted(results.items()):
                file.write(f"{name}\t{ours}{'' if not theirs or theirs == ours else '; the official runtime: ' + theirs}\n")
    if options.check:
        lost = [name for name, what in read_list(options.check).items()
                if what.startswith("agrees") and name in results and results[name][0] != "agrees"]
        for name in lost:
            print(f"{name}: {results[name][0]}; it agreed before")
        if lost:
            sys.exit(1)


if __name__ == "__main__":
    main()
