"""Times one operator by several engines in one process, for products.py and convolutions.py."""

import argparse
import math
import os
import random
import statistics
import sys
import tempfile
import time
from types import SimpleNamespace

import numpy as np
from zoo import converters

from . import machine

BURST_SECONDS = 0.05
# The clock is read at most once in this time, because a reading takes as long as a small operator.
READING_SECONDS = 3e-5
LIMIT = 1.10  # a ratio above it is marked


class Problem:
    """One operator with the interface of harness.nets.Net: the input "a", constants, the output "c"."""

    def __init__(self, folder, a, exact, tolerance):
        self.folder, self.tolerance = folder, tolerance
        self.inputs = {"a": a}
        self.outputs = {"c": exact}

    def file(self, name):
        return os.path.join(self.folder, name)

    def write(self, node, constants):
        """Writes the operator as model.onnx, and as model.mnn by the official converter."""
        import onnx
        from onnx import helper, numpy_helper

        def value(name, array):
            return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, list(array.shape))

        graph = helper.make_graph(
            [node], "one", [value("a", self.inputs["a"])], [value("c", self.outputs["c"])],
            [numpy_helper.from_array(array, name) for name, array in constants.items()],
        )  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, self.file("model.onnx"))
        converters.mnn_from_onnx(self.file("model.onnx"), self.file("model.mnn"))

    def error(self, results):
        exact = self.outputs["c"]
        return np.abs(results[0].reshape(exact.shape) - exact).max() / np.abs(exact).max()


def burst(engine, readings, runs=1):
    """Returns the median time of a run in seconds, over some readings of `runs` runs each, after one uncounted
    reading."""
    times = []
    for _ in range(readings + 1):
        engine.set_inputs()
        begin = time.process_time_ns()
        for _ in range(runs):
            engine.run()
        times.append(time.process_time_ns() - begin)
    return statistics.median(times[1:]) / runs * 1e-9


def measure(problem, engines, rounds, shuffle):
    """Returns, by engine, the medians of its bursts in the order of rounds."""
    counts = {}
    for name, engine in engines.items():
        engine.load(problem)
        seconds = max(burst(engine, 3), 1e-7)
        runs = max(1, round(READING_SECONDS / seconds))
        counts[name] = (min(max(3, round(BURST_SECONDS / (seconds * runs))), 5000), runs)
        error = problem.error(engine.results())
        if not error <= problem.tolerance:
            sys.exit(f"{name}: off by {error:.1e} of the largest element")
    times = {name: [] for name in engines}
    for _ in range(rounds):
        order = list(engines)
        shuffle.shuffle(order)
        for name in order:
            times[name].append(burst(engines[name], *counts[name]))
    return times


def parser(description):
    """Defines the options of each benchmark of operators."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--library", default="build/release/libmnn_c.so")
    made.add_argument("--rounds", type=int, default=9)
    made.add_argument("--isa", default="", help="force our CPU instruction set")
    made.add_argument("--seed", type=int, default=1, help="the seed of the random order of bursts")
    return made


def check(made, args):
    if args.rounds < 1:
        made.error("--rounds is at least 1")
    if not os.path.exists(args.library):
        made.error(f"there is no {args.library} (--library)")


class Table:
    """Measures problems with one thread and prints a row for each: the median of the paired ratios ours / other."""

    def __init__(self, args, others, titles):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        self.args, self.others = args, others
        self.options = SimpleNamespace(library=args.library, isa=args.isa, threads=1, precision="normal")
        self.shuffle = random.Random(args.seed)
        self.ratios = {name: [] for name in others}
        self.versions = []
        about = machine.describe()
        print(f"{about['cpu']}; {about['caches']}; {about['system']}")
        print(f"{titles} {'GFLOP/s':>8} " + " ".join(f"{'/ ' + name:>15}" for name in others))

    def row(self, title, flops, make):
        """Calls make(folder), which returns the problem; its engines are "ours" and the others."""
        with tempfile.TemporaryDirectory() as folder:
            problem = make(folder)
            engines = {name: kind(self.options) for name, kind in self.engines().items()}
            times = measure(problem, engines, self.args.rounds, self.shuffle)
        self.versions = [getattr(engine, "version", "") for engine in engines.values()]
        found = []
        for name in self.others:
            ratio = statistics.median(own / other for own, other in zip(times["ours"], times[name]))
            self.ratios[name].append(ratio)
            found.append(ratio)
        rate = flops * 1e-9 / statistics.median(times["ours"])
        mark = "  <-" if max(found) > LIMIT else ""
        print(f"{title} {rate:8.1f} " + " ".join(f"{ratio:15.3f}" for ratio in found) + mark, flush=True)

    def engines(self):
        from engines import ours

        return {"ours": ours.Engine, **self.others}

    def finish(self):
        for name, ratios in self.ratios.items():
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            print(f"ours / {name}: geometric mean {mean:.3f}, worst {max(ratios):.3f}")
        print("; ".join(version for version in self.versions if version))
