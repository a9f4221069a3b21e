#!/usr/bin/env python3
"""Matrix products of floats against OpenBLAS (numpy's) and ONNX Runtime, one thread, a table of shapes.

    python3 benchmarks/products.py --library build/release/libmnn_c.so

A product is rows x K by a constant K x N, as in a fully connected layer: K and N are those of transformers and of the
last layers of other nets, rows from 1 to 4,096. Each shape becomes an ONNX net of one MatMul, and a .mnn of that by the
official converter. All three run in one process, in bursts of about 50 ms in shuffled order; times are those of the
process on the CPU. The figure is the median over rounds of the paired ratio ours / other of burst medians: below 1 ours
is faster. OpenBLAS gets its right side as it lies and packs it on every call, which is how numpy's users call it.

Needs the packages MNN, onnx, onnxruntime and numpy, whose OpenBLAS it times. OPENBLAS_CORETYPE=Haswell with --isa avx2
compares kernels of AVX2.
"""

import argparse
import math
import os
import random
import statistics
import sys
import tempfile
import time
from types import SimpleNamespace

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # read when numpy is imported

import numpy as np  # noqa: E402
from engines import onnxruntime, ours  # noqa: E402
from harness import machine  # noqa: E402
from zoo import converters  # noqa: E402

ROWS = (1, 8, 49, 64, 128, 197, 512, 1024, 4096)
SIDES = ((64, 64), (256, 256), (384, 1536), (512, 2048), (768, 768), (768, 3072), (3072, 768), (2048, 1000))
BURST_SECONDS = 0.05
TOLERANCE = 1e-5  # of the largest element
LIMIT = 1.10  # a ratio above is marked


class Blas:
    version = "numpy " + np.__version__

    def load(self, net):
        self.left, self.right = net.inputs["a"], net.right
        self.result = np.zeros_like(net.outputs["c"])

    def set_inputs(self):
        pass

    def run(self):
        np.dot(self.left, self.right, out=self.result)

    def results(self):
        return [self.result]


class Product:
    """One shape with the interface of harness.nets.Net."""

    def __init__(self, folder, rows, inner, columns):
        self.folder = folder
        draw = np.random.default_rng(rows * 31 + inner * 7 + columns)
        self.right = draw.standard_normal((inner, columns)).astype(np.float32)
        self.inputs = {"a": draw.standard_normal((rows, inner)).astype(np.float32)}
        exact = self.inputs["a"].astype(np.float64) @ self.right.astype(np.float64)
        self.outputs = {"c": exact.astype(np.float32)}
        self.write()

    def file(self, name):
        return os.path.join(self.folder, name)

    def write(self):
        import onnx
        from onnx import helper, numpy_helper

        def value(name, array):
            return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, list(array.shape))

        graph = helper.make_graph(
            [helper.make_node("MatMul", ["a", "b"], ["c"])], "product",
            [value("a", self.inputs["a"])], [value("c", self.outputs["c"])],
            [numpy_helper.from_array(self.right, "b")],
        )  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, self.file("model.onnx"))
        converters.mnn_from_onnx(self.file("model.onnx"), self.file("model.mnn"))

    def error(self, results):
        exact = self.outputs["c"]
        return np.abs(results[0].reshape(exact.shape) - exact).max() / np.abs(exact).max()


def burst(engine, runs):
    """The median of some runs in seconds, behind one that is not counted."""
    times = []
    for _ in range(runs + 1):
        engine.set_inputs()
        begin = time.process_time_ns()
        engine.run()
        times.append(time.process_time_ns() - begin)
    return statistics.median(times[1:]) * 1e-9


def measure(product, options, rounds, shuffle):
    """By engine the medians of its bursts, in the order of rounds."""
    engines = {"ours": ours.Engine(options), "OpenBLAS": Blas(), "ONNX Runtime": onnxruntime.Engine(options)}
    runs = {}
    for name, engine in engines.items():
        engine.load(product)
        seconds = burst(engine, 3)
        runs[name] = min(max(3, round(BURST_SECONDS / max(seconds, 1e-7))), 5000)
        error = product.error(engine.results())
        if not error <= TOLERANCE:
            sys.exit(f"{name}: off by {error:.1e} of the largest element")
    times = {name: [] for name in engines}
    for _ in range(rounds):
        order = list(engines)
        shuffle.shuffle(order)
        for name in order:
            times[name].append(burst(engines[name], runs[name]))
    versions = [getattr(engine, "version", "") for engine in engines.values()]
    return times, versions


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="build/release/libmnn_c.so")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--rows", help="only these, separated by commas")
    parser.add_argument("--isa", default="", help="force our CPU instruction set")
    parser.add_argument("--seed", type=int, default=1, help="of the order of bursts")
    args = parser.parse_args()
    try:
        args.rows = [int(count) for count in args.rows.split(",")] if args.rows else list(ROWS)
    except ValueError:
        parser.error("--rows wants numbers separated by commas")
    if args.rounds < 1 or min(args.rows) < 1:
        parser.error("--rounds and --rows are at least 1")
    if not os.path.exists(args.library):
        parser.error(f"there is no {args.library} (--library)")
    return args


def main():
    args = parse()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    options = SimpleNamespace(library=args.library, isa=args.isa, threads=1, precision="normal")
    shuffle, all_ratios, versions = random.Random(args.seed), {"OpenBLAS": [], "ONNX Runtime": []}, []
    about = machine.describe()
    print(f"{about['cpu']}; {about['caches']}; {about['system']}")
    print(f"{'rows':>5} {'K':>5} {'N':>5} {'GFLOP/s':>8} {'/ OpenBLAS':>11} {'/ ONNX Runtime':>15}")
    for inner, columns in SIDES:
        for rows in args.rows:
            with tempfile.TemporaryDirectory() as folder:
                times, versions = measure(
                    Product(folder, rows, inner, columns), options, args.rounds, shuffle
                )
            ratios = {
                name: statistics.median(own / other for own, other in zip(times["ours"], times[name]))
                for name in all_ratios
            }
            for name, ratio in ratios.items():
                all_ratios[name].append(ratio)
            rate = 2e-9 * rows * inner * columns / statistics.median(times["ours"])
            mark = "  <-" if max(ratios.values()) > LIMIT else ""
            print(
                f"{rows:5} {inner:5} {columns:5} {rate:8.1f} {ratios['OpenBLAS']:11.3f} "
                f"{ratios['ONNX Runtime']:15.3f}{mark}",
                flush=True,
            )
    for name, ratios in all_ratios.items():
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"ours / {name}: geometric mean {mean:.3f}, worst {max(ratios):.3f}")
    print("; ".join(version for version in versions if version))


if __name__ == "__main__":
    main()
