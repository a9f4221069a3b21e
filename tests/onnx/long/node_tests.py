#!/usr/bin/env python3
"""Converts and runs every node test of the package onnx whose types the format has, those that the packed corpus leaves out
among them, and once more with every extent of inputs free that can vary, at two sizes.

    node_tests.py RUNNER UNFIT [--only WORD] [--list]

UNFIT lists those that are not right, with the reason: "NAME: REASON", and "NAME free: REASON" for the second way, in which
those that are refused are not tried. Right is: type, shape, and at most 1e-4 of the largest value away (halves: 2e-3). At
the other size onnxruntime is the judge, and where it has no such operator the reference of the package onnx. --list: prints
a line for each case that is not right, for UNFIT.
"""
import multiprocessing
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
import threading
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx.backend.test.case.node import collect_testcases
from onnx.reference import ReferenceEvaluator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import corpus_files  # noqa: E402
from cases import packing  # noqa: E402

RANDOM_OPS = {"Bernoulli", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial"}
SECONDS = 60  # for one case
MAX_BYTES = 4 << 30
LONGEST_LIST = 8


def tests():
    """Lists name, model, inputs, outputs of the tests whose types the format has."""
    packing.MOST_BYTES = 1 << 40
    for test in collect_testcases(None):
        try:
            inputs, outputs = test.data_sets[0]
            graph = test.model.graph
            if len(inputs) != len(graph.input):
                continue
            sides = [list(zip([one.name for one in side], arrays)) for side, arrays in
                     ((graph.input, inputs), (graph.output, outputs))]
            if packing.case_of(test.name, test.model, *sides):
                yield test.name, test.model, *sides
        except (TypeError, ValueError, AttributeError):
            continue  # sequences, optional values, types of other packages


def tolerance_of(arrays):
    return 2e-3 if any(str(np.asarray(one).dtype) == "float16" for _, one in arrays) else 1e-4


def with_free_extents(model, axes):
    """Returns the model where these axes of inputs (pairs of input and axis) have their own names, and nothing else has
    a shape."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    for which, value in enumerate(result.graph.input):
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if (which, axis) in axes:
                dim.Clear()
                dim.dim_param = f"{value.name}_{axis}"
    del result.graph.value_info[:]
    for value in result.graph.output:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            dim.Clear()
            dim.dim_param = f"{value.name}_{axis}"
    return result


class Judge:
    """Computes the right results of a model: those of onnxruntime, or of the reference where onnxruntime lacks an
    operator or does not give the test's own result. The reference also accepts many models without meaning."""

    def __init__(self, model):
        self.model, self.outputs = model, [one.name for one in model.graph.output]
        self.runs = []
        try:
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            options.intra_op_num_threads = 1
            session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
            self.runs.append(lambda feed: session.run(self.outputs, feed))
        except Exception:  # noqa: BLE001: of whatever kind, there is no such session
            pass
        try:
            evaluator = ReferenceEvaluator(model)
            self.runs.append(lambda feed: evaluator.run(None, feed))
        except Exception:  # noqa: BLE001
            pass

    def __call__(self, feed, wanted=None):
        """Returns None where no judge accepts it. wanted: the result that a judge must give to count."""
        for run in list(self.runs):
            try:
                got = [np.asarray(one) for one in run({name: array.copy() for name, array in feed})]
            except Exception:  # noqa: BLE001
                continue
            if wanted is not None and not all(
                    one.shape == np.shape(other) and np.allclose(one.astype(float), np.asarray(other).astype(float), 1e-3, 1e-3,
                                                                 equal_nan=True) for one, (_, other) in zip(got, wanted)):
                self.runs.remove(run)
                continue
            if wanted is not None:
                self.runs = [run]
            return got
        return None


def other_sizes(inputs):
    """Lists inputs of other extents: first those that keep most relations between extents, last those that change one
    extent alone."""
    random = np.random.default_rng(1)

    def changed(rule):
        result = []
        for which, (name, array) in enumerate(inputs):
            array = np.asarray(array)
            # axes, sizes, repeats: their number is that of the axes
            if array.ndim == 1 and which > 0 and array.size <= LONGEST_LIST:
                result.append((name, array))
                continue
            shape = tuple(rule(which, axis, extent) for axis, extent in enumerate(array.shape))
            other = np.resize(array, shape).astype(array.dtype) if array.size else np.zeros(shape, array.dtype)
            if array.dtype.kind == "f" and other.ndim and (array != np.round(array)).any():
                other = (other * random.uniform(0.75, 1.0, shape)).astype(array.dtype)
            result.append((name, other))
        return result

    first = [array for _, array in inputs if np.ndim(array) > 0]
    if not first:
        return
    extents = sorted({extent for array in first for extent in np.shape(array) if extent > 1}, reverse=True)
    ranks = max(np.ndim(array) for array in first)
    for more in (lambda extent: extent + 1, lambda extent: 2 * extent):
        yield changed(lambda which, axis, extent: more(extent) if extent > 1 else extent)
    for more in (lambda extent: extent + 1, lambda extent: 2 * extent, lambda extent: max(extent - 1, 0)):
        for one in extents:  # the same number in all inputs
            yield changed(lambda which, axis, extent, one=one: more(extent) if extent == one else extent)
        for at in range(ranks):  # the same axis in all inputs, then in one input
            yield changed(lambda which, axis, extent, at=at: more(extent) if axis == at and extent > 1 else extent)
        for which_one in range(len(inputs)):
            for at in range(np.ndim(inputs[which_one][1])):
                yield changed(lambda which, axis, extent, at=at, which_one=which_one:
                              more(extent) if axis == at and which == which_one else extent)


def other_case(model, inputs, outputs):
    """Returns the model where every extent is free that can vary according to the judge, and inputs and outputs of
    another size; None where there is no such size, or no judge."""
    if any(node.op_type in RANDOM_OPS for node in model.graph.node):
        return None
    every = {(which, axis) for which, (_, array) in enumerate(inputs) for axis in range(np.ndim(array))}
    judge = Judge(with_free_extents(model, every))
    if judge(inputs, outputs) is None:
        return None
    first = [np.shape(array) for _, array in inputs]
    seen, best, varied = {tuple(first)}, None, set()
    for other in other_sizes(inputs):
        shapes = [np.shape(array) for _, array in other]
        if tuple(shapes) in seen:
            continue
        seen.add(tuple(shapes))
        results = judge(other)
        if results is None:
            continue
        arrays = [(name, array) for (name, _), array in zip(outputs, results)]
        if any(array.dtype != np.asarray(wanted).dtype or array.ndim != np.ndim(wanted)
               for (_, array), (_, wanted) in zip(arrays, outputs)):
            continue
        if not all(np.isfinite(array.astype(float)).any() or array.size == 0 for _, array in arrays):
            continue
        changed = {(which, axis) for which, shape in enumerate(shapes) for axis in range(len(shape)) if shape[axis] != first[which][axis]}
        varied |= changed
        if best is None or len(changed) > best[0]:
            best = len(changed), other, arrays
    return best and (with_free_extents(model, varied), best[1], best[2])


def apart(function, *arguments):
    """Returns a function's result, computed in a separate process, because models at other sizes sometimes crash
    onnxruntime; None then."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=lambda: sender.send(function(*arguments)))
    process.start()
    sender.close()
    try:
        result = receiver.recv() if receiver.poll(SECONDS) else None
    except EOFError:
        result = None
    process.kill()
    process.join()
    return result


def written(file, name, model, inputs, outputs):
    def text(data):
        data = data.encode() if isinstance(data, str) else data
        return struct.pack("<I", len(data)) + data

    file.write(text(name) + text(model.SerializeToString()) + struct.pack("<f", tolerance_of(inputs + outputs)))
    for side in (inputs, outputs):
        file.write(struct.pack("<I", len(side)))
        for key, array in side:
            key, kind, shape, blob = packing.packed(key, array)
            file.write(text(key) + struct.pack(f"<II{len(shape)}i", corpus_files.TYPES[kind], len(shape), *shape) + text(blob))


def run(runner, cases, max_bytes=MAX_BYTES):
    """Returns name -> (result, reason). A case that ends the runner counts as a crash, and the others continue."""
    results, left = {}, list(cases)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "corpus"
        while left:
            with open(path, "wb") as file:
                for case in left:
                    written(file, *case)
            program = subprocess.Popen([runner, "corpus", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                       errors="replace", bufsize=1,
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes)))
            begun, watch = None, threading.Timer(SECONDS, program.kill)
            watch.start()
            for line in program.stdout:
                watch.cancel()
                watch = threading.Timer(SECONDS, program.kill)
                watch.start()
                result, _, rest = line.rstrip("\n").partition(" ")
                name, _, rest = rest.partition(" ")
                if result == "begin":
                    begun = name
                elif result in ("ok", "refused", "wrong"):
                    results[name] = (result, rest)
            watch.cancel()
            code = program.wait()
            if code == 0 or begun is None:
                break
            results[begun] = ("crash", f"the runner ended with {code}")
            names = [case[0] for case in left]
            left = left[names.index(begun) + 1:]
    return results


def read_unfit(path):
    result = {}
    for line in pathlib.Path(path).read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, reason = line.partition(": ")
            result[name.replace(" free", "@free")] = reason
    return result


def main():
    warnings.filterwarnings("ignore")
    onnxruntime.set_default_logger_severity(4)
    runner, unfit_path = sys.argv[1:3]
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    cases, pairs, fixed = [], [], []
    for name, model, inputs, outputs in tests():
        if only not in name:
            continue
        cases.append((name, model, inputs, outputs))
        found = apart(other_case, model, inputs, outputs)
        if found is None:
            fixed.append(name)
            continue
        free, *other = found
        cases.append((name + "@first", free, inputs, outputs))
        cases.append((name + "@other", free, *other))
        pairs.append(name)
    results = run(runner, cases)
    plain = {case[0]: results.get(case[0], ("missing", "")) for case in cases if "@" not in case[0]}
    free = {}
    for name in pairs:
        if plain[name][0] == "refused":
            continue  # other extents change nothing about it
        both = [results.get(name + part, ("missing", "")) for part in ("@first", "@other")]
        free[name + "@free"] = next((one for one in both if one[0] != "ok"), both[0])
    unfit = read_unfit(unfit_path)
    wrong = []
    for name, (result, reason) in (plain | free).items():
        if "--list" in sys.argv and result != "ok":
            print(f"{name.replace('@', ' ')}: {result}: {reason}")
        if result in ("crash", "missing"):
            wrong.append(f"{name}: {result}: {reason}")
        elif result != "ok" and name not in unfit:
            wrong.append(f"{name}: {result}: {reason}")
        elif result == "ok" and name in unfit:
            wrong.append(f"{name} is listed as unfit, and is right")
        elif result == "wrong" and not unfit[name].startswith("differs: "):
            wrong.append(f"{name}: wrong: {reason}, and the list does not say why")
    if not only:
        wrong += [f"{name} is listed, and is no case" for name in unfit if name not in plain | free]

    def count(of):
        return ", ".join(f"{sum(one[0] == kind for one in of.values())} {kind}" for kind in ("ok", "refused", "wrong", "crash"))

    print(f"{len(plain)} node tests: {count(plain)}")
    print(f"{len(free)} with free extents, at two sizes: {count(free)}; {len(fixed)} have no other size that a judge takes")
    if "--list" in sys.argv:
        print("no other size:", *fixed)
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
