#!/usr/bin/env python3
"""Measures how far quantised nets are from their float nets: ours, another build of ours, and the official runtime.

    python3 benchmarks/int8_error.py --library build/release/libmnn_c.so --work DIR [--before OTHER.so] MODELS

MODELS are folders of float nets as make_models.py makes them (model.mnn and case.json). The official quantiser makes
an int8 net of each, once, in --work; where a folder holds quantised.mnn, that file is taken. All see the same seeded
inputs, sums of noise of several wave lengths as in pictures. The figure is the rms of the differences from the float
net over all inputs, relative to the rms of the float outputs around their mean. The promise is: at most 1.05 times
the official runtime's on every net, at most 1.00 in the geometric mean; the exit code is 1 where it is broken.

Needs MNN (the official wheel) and numpy. Each engine is a process of its own.
"""

import argparse
import math
import os
import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np

import engines
from harness import nets
from zoo import converters

EACH, MEAN = 1.05, 1.00
CALIBRATION = 16  # number of inputs


def picture(shape, random):
    """Returns noise whose strength grows with its wave length, each channel with a mean of its own."""
    if len(shape) != 4:
        return random.standard_normal(shape).astype(np.float32)
    height, width = shape[2:]
    total = np.zeros(shape)
    cells = 1
    while cells <= min(height, width):
        grid = random.standard_normal((*shape[:2], cells + 1, cells + 1))
        y, x = np.linspace(0, cells, height, endpoint=False), np.linspace(0, cells, width, endpoint=False)
        top, left = y.astype(int), x.astype(int)
        fy, fx = (y - top)[:, None], x - left
        rows, below = grid[:, :, top], grid[:, :, top + 1]
        upper = rows[..., left] * (1 - fx) + rows[..., left + 1] * fx
        lower = below[..., left] * (1 - fx) + below[..., left + 1] * fx
        total += (upper * (1 - fy) + lower * fy) / cells**0.7
        cells *= 2
    return (total / total.std()).astype(np.float32)


def inputs_of(net, count, seed):
    random = np.random.default_rng(seed)
    return [{name: picture(a.shape, random) for name, a in net.inputs.items()} for _ in range(count)]


def work(arguments):
    """Runs one engine on one file and writes the outputs of all inputs to a file."""
    with open(arguments, "rb") as file:
        job = pickle.load(file)
    options = SimpleNamespace(library=job["library"], threads=1, precision="normal", isa=job["isa"], way="session")
    net = nets.find([job["folder"]])[0]
    net.load_tensors()
    net.file = lambda _: job["model"]
    engine, results = engines.create(job["engine"], options), []
    for index, inputs in enumerate(inputs_of(net, job["count"], job["seed"])):
        for name, array in inputs.items():
            net.inputs[name][...] = array
        if index == 0:
            engine.load(net)
        engine.set_inputs()
        engine.run()
        results.append(np.concatenate([np.array(a, np.float64).reshape(-1) for a in engine.results()]))
    np.save(job["results"], np.stack(results))


class Comparison:
    def __init__(self, args):
        self.args = args

    def outputs(self, net, engine, model, library):
        scratch = os.path.join(self.args.work, net.name)
        job = {"engine": engine, "library": library, "model": os.path.abspath(model), "folder": net.folder,
               "count": self.args.inputs, "seed": 7, "isa": self.args.isa,
               "results": os.path.abspath(os.path.join(scratch, "results.npy"))}  # fmt: skip
        path = os.path.join(scratch, "job.pickle")
        with open(path, "wb") as file:
            pickle.dump(job, file)
        done = subprocess.run([sys.executable, __file__, "--worker", path], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{engine}: {(done.stderr.strip().splitlines() or [f'rc {done.returncode}'])[-1]}")
        return np.load(job["results"])

    def quantised(self, net):
        made = os.path.join(net.folder, "quantised.mnn")
        if os.path.exists(made):
            return made
        made = os.path.join(self.args.work, net.name, "quantised.mnn")
        if not os.path.exists(made):
            batches = inputs_of(net, CALIBRATION, 3)
            name = next(iter(net.inputs))
            converters.int8_mnn(net.file("model.mnn"), made, [batch[name] for batch in batches],
                                name, list(net.outputs))  # fmt: skip
        return made

    def row(self, net):
        os.makedirs(os.path.join(self.args.work, net.name), exist_ok=True)
        int8 = self.quantised(net)
        truth = self.outputs(net, "ours", net.file("model.mnn"), self.args.library)
        scale = np.sqrt(np.mean((truth - truth.mean()) ** 2))

        def error(engine, library):
            return float(np.sqrt(np.mean((self.outputs(net, engine, int8, library) - truth) ** 2)) / scale)

        row = {"ours": error("ours", self.args.library), "official": error("official", None)}
        if self.args.before:
            row["before"] = error("ours", self.args.before)
        return row


def main():
    if sys.argv[1:2] == ["--worker"]:
        return work(sys.argv[2])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="DIR", help="a net's folder, or a folder of such folders")
    parser.add_argument("--library", default="build/release/libmnn_c.so")
    parser.add_argument("--before", help="another build of the library, to compare with")
    parser.add_argument("--work", required=True, help="folder for int8 nets and results")
    parser.add_argument("--inputs", type=int, default=64)
    parser.add_argument("--models", help="only these nets, separated by commas")
    parser.add_argument("--isa", default="", help="force our CPU instruction set")
    args = parser.parse_args()
    found = nets.find(args.folders)
    if args.models:
        found = [net for net in found if net.name in args.models.split(",")]
    if not found:
        parser.error("no such net")
    comparison, ratios, failed = Comparison(args), {"ours": [], "before": []}, []
    print(f"{'net':24} {'official':>9} {'ours':>9} {'ratio':>7}" + (f" {'before':>9} {'ratio':>7}" if args.before else ""))
    for net in found:
        net.load_tensors()
        try:
            row = comparison.row(net)
        except RuntimeError as reason:
            failed.append(net.name)
            print(f"{net.name:24} {reason}", flush=True)
            continue
        line = f"{net.name:24} {row['official']:9.5f}"
        for who in ("ours", "before"):
            if who in row:
                ratios[who].append(row[who] / row["official"])
                line += f" {row[who]:9.5f} {ratios[who][-1]:7.3f}"
        print(line, flush=True)
    for who, all_of in ratios.items():
        if all_of:
            mean = math.exp(sum(map(math.log, all_of)) / len(all_of))
            print(f"{who}: geometric mean {mean:.3f}, largest {max(all_of):.3f} over {len(all_of)} nets")
    kept = ratios["ours"] and max(ratios["ours"]) <= EACH
    kept = kept and sum(map(math.log, ratios["ours"])) <= len(ratios["ours"]) * math.log(MEAN)
    return 0 if kept and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
