#!/usr/bin/env python3
"""Measures the cost of several sessions of one net: time and memory of each further one, and the throughput of two at a
time.

    python3 benchmarks/sessions.py --library build/release/libmnn_c.so MODELS

Creation: milliseconds of the first session, including the model, and of each further one, which shares its plan.
Memory: the resident set after the first session's run, its growth with each further one, and the arena that a session
reports (its own memory; weights are shared). Throughput: two sessions of one interpreter, one thread each, pinned to
two CPUs, against one alone; interleaved bursts, the median of the paired ratios with p10 and p90.
"""

import argparse
import ctypes
import os
import statistics
import threading
import time
from types import SimpleNamespace

from engines import ours
from harness import nets
from harness.worker import status_kib

MIB = 1024.0


def session(options, net, times, shared=None):
    engine = ours.Engine(options)
    begin = time.perf_counter()
    engine.load(net, shared)
    times.append(1000 * (time.perf_counter() - begin))
    engine.set_inputs()
    engine.run()
    return engine


def arena_mib(engine):
    info = ours.structs.Statistics(ctypes.sizeof(ours.structs.Statistics))
    engine.check(engine.lib.mnn_session_statistics(engine.session, ctypes.byref(info)))
    return info.arena_bytes / MIB / MIB


def burst(engines, cpus, runs):
    """Returns the runs per second when each engine runs `runs` times in a thread of its own."""
    start = threading.Barrier(len(engines) + 1)

    def work(engine, cpu):
        os.sched_setaffinity(0, [cpu])  # pins this thread alone
        engine.run()
        start.wait()
        for _ in range(runs):
            engine.run()

    threads = [threading.Thread(target=work, args=pair) for pair in zip(engines, cpus)]
    for thread in threads:
        thread.start()
    start.wait()
    begin = time.perf_counter()
    for thread in threads:
        thread.join()
    return runs * len(engines) / (time.perf_counter() - begin)


def throughput(engines, rounds):
    cpus = sorted(os.sched_getaffinity(0))[:2]
    begin = time.perf_counter()
    engines[0].run()
    runs = max(3, int(0.1 / (time.perf_counter() - begin)))
    ratios = sorted(burst(engines[:2], cpus, runs) / burst(engines[:1], cpus, runs) for _ in range(rounds))
    return statistics.median(ratios), ratios[len(ratios) // 10], ratios[-1 - len(ratios) // 10]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="DIR", help="a net's folder, or a folder of such folders")
    parser.add_argument("--library", default="build/release/libmnn_c.so")
    parser.add_argument("--models", help="only these nets, separated by commas")
    parser.add_argument("--sessions", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    if args.sessions < 2 or len(os.sched_getaffinity(0)) < 2:
        parser.error("two sessions and two CPUs are needed")
    options = SimpleNamespace(library=args.library, threads=1, precision="normal", isa=None)
    print("net                 created ms  each further  1 session MiB  each further  its arena   2 at a time / 1 [p10 p90]")
    for net in nets.find(args.folders):
        if args.models and net.name not in args.models.split(","):
            continue
        net.load_tensors()
        ours.Engine(options)  # the memory of the library itself does not count
        base = status_kib("VmRSS")
        times = []
        engines = [session(options, net, times)]
        first = status_kib("VmRSS")
        engines += [session(options, net, times, engines[0]) for _ in range(args.sessions - 1)]
        each = (status_kib("VmRSS") - first) / (args.sessions - 1)
        middle, low, high = throughput(engines, args.rounds)
        print(
            f"{net.name:20s}{times[0]:10.1f}{statistics.median(times[1:]):14.2f}{(first - base) / MIB:15.1f}{each / MIB:14.1f}{arena_mib(engines[0]):11.1f}"
            f"{middle:15.2f} [{low:.2f} {high:.2f}]",
            flush=True,
        )


if __name__ == "__main__":
    main()
