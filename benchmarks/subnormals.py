#!/usr/bin/env python3
"""Measures the cost of subnormal numbers: a session that keeps them against one that flushes them to zero, in one
process.

    python3 benchmarks/subnormals.py --library build/release/libmnn_c.so MODELS

Numbers below 1.2e-38 are slow to compute with on many CPUs. They appear after the softmax of masked attention and in
the state of a recurrent net that decays; make_models.py makes such nets (the group `subnormal`). Bursts of both
sessions alternate; times are those of the process on the CPU, so other work disturbs little. The figure is the median
of the paired ratios of times, kept / zero, with p10 and p90: above 1 zeros are faster. The last column is the share of
the net's outputs that are subnormal when they are kept.
"""

import argparse
import os
import statistics
import time
from types import SimpleNamespace

import numpy as np

from engines import ours
from harness import machine, nets
from harness.duel import quantile
from harness.process import BURST_SECONDS

SMALLEST_NORMAL = np.finfo(np.float32).tiny


def session(options, net, keep, shared=None):
    engine = ours.Engine(options)
    engine.keep_subnormals = keep
    engine.load(net, shared)
    engine.set_inputs()
    engine.run()
    return engine


def burst(engine, runs):
    """Returns the median time of some runs in seconds, after one that is not counted."""
    times = []
    for _ in range(runs + 1):
        engine.set_inputs()
        begin = time.process_time()
        engine.run()
        times.append(time.process_time() - begin)
    return statistics.median(times[1:])


def paired(kept, zeroed, rounds):
    """Returns the times of both sessions by round."""
    runs = max(3, round(BURST_SECONDS / burst(kept, 3)))
    found = []
    for number in range(rounds):
        order = [kept, zeroed] if number % 2 else [zeroed, kept]
        times = {engine: burst(engine, runs) for engine in order}
        found.append((times[kept], times[zeroed]))
    return found


def subnormal_share(engine):
    values = np.concatenate([np.abs(array).ravel() for array in engine.results() if array.dtype == np.float32])
    return np.mean((values > 0) & (values < SMALLEST_NORMAL))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="DIR", help="a net's folder, or a folder of such folders")
    parser.add_argument("--library", default="build/release/libmnn_c.so")
    parser.add_argument("--models", help="only these nets, separated by commas")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--isa", default="", help="force our CPU instruction set")
    args = parser.parse_args()
    if args.rounds < 1:
        parser.error("--rounds is at least 1")
    found = [net for net in nets.find(args.folders) if not args.models or net.name in args.models.split(",")]
    if not found:
        parser.error("there is no such net")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    about = machine.describe()
    print(f"{about['cpu']}; {about['caches']}; one thread, {args.rounds} rounds")
    print(f"{'net':<20} {'kept ms':>10} {'zero ms':>10} {'kept / zero':>22} {'outputs':>9}")
    options = SimpleNamespace(library=args.library, threads=1, precision="normal", isa=args.isa)
    for net in found:
        net.load_tensors()
        kept = session(options, net, 1)
        zeroed = session(options, net, 0, kept)
        share = subnormal_share(kept)
        if subnormal_share(zeroed):
            raise RuntimeError(f"{net.name}: subnormal numbers came out of the session that has none")
        times = paired(kept, zeroed, args.rounds)
        ratios = [a / b for a, b in times]
        middle = [statistics.median(column) * 1e3 for column in zip(*times)]
        spread = f"{statistics.median(ratios):.3f} [{quantile(ratios, 0.1):.3f} {quantile(ratios, 0.9):.3f}]"
        print(f"{net.name:<20} {middle[0]:10.3f} {middle[1]:10.3f} {spread:>22} {share:9.1%}", flush=True)


if __name__ == "__main__":
    main()
