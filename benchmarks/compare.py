#!/usr/bin/env python3
"""Times libmnn_c against the official MNN wheel, ONNX Runtime and ncnn: same nets, weights, inputs and thread count.

    python3 benchmarks/compare.py --library build/release/libmnn_c.so --threads 1,2 MODELS

MODELS are the folders that make_models.py made, or any folders that `mnn verify` accepts. Each engine is a process of
its own, pinned to as many CPUs as it has threads, loaded once; it answers "run N" with N times around one inference:
input already set, output readable. Outputs are checked first: a wrong answer has no time. A round is one burst of about
90 ms of each engine, in shuffled order, without the first run of each burst. A signal stops the engines that are not
running, so that idle workers of one do not disturb another and each waits in its own way while it runs. A round is
repeated when other processes used more than 5 per cent of the CPUs or when two CPUs did not give the rate of two; after
--retries the quietest try counts and is reported as noisy. The figure of a net is the median over rounds of the paired
ratio ours / other of burst medians, with p10 and p90; with --sets it is the middle one of fresh sets of processes. On a
machine that is never quiet, --clock cpu with one thread and --retries 0 leave out the time in which others ran, though
not their effect on the caches.

Ours is ahead on a net with a median <= 0.95 and p90 < 1; with more threads <= 0.93 and 80 % of the rounds below 1. It
is behind with > 1.05. It is ahead overall with a geometric mean <= 0.90 over the complete fixed list and no net above
1.05. "best" is the fastest other engine of each round. Load and memory are medians of processes that start in turn; the
aim is a geometric mean of 0.60 and 0.80 of the best other engine, and no net above 0.75 and 0.85. An engine that is not
installed is named and left out, unless --engines names it. The exit code is 1 when ours fails on a net, 2 when the
arguments are wrong.

With --json the file is written after each net. --resume keeps the nets that are in it and measures the others; machine,
library, engines and settings have to equal those of the file.
"""

import argparse
import importlib.util
import os
import random
import subprocess
import sys

import engines
from harness import duel, nets, quiet, report, resume, worker
from zoo import names as lists


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="DIR", help="a net's folder, or a folder of such folders")
    parser.add_argument("--library", default="build/release/libmnn_c.so")
    parser.add_argument("--before", default="", metavar="LIBRARY", help="an older build of libmnn_c, the engine 'before'")
    parser.add_argument("--engines", help=f"some of {','.join(engines.NAMES)} (default: what is installed)")
    parser.add_argument("--models", help="only these nets, separated by commas")
    parser.add_argument("--threads", default="1", help="numbers of threads, separated by commas")
    parser.add_argument(
        "--rounds", type=int, default=21,
        help="of a net; a third of them from 50 ms on (default: 21, and so 7; 2 to see that it works; 0: load and "
        "memory alone)",
    )  # fmt: skip
    parser.add_argument("--sets", type=int, default=1, help="fresh sets of processes; 3 for publication")
    parser.add_argument("--loads", type=int, default=1, help="processes of each engine for load and memory; 7 for publication")
    parser.add_argument("--retries", type=int, default=2, help="of a disturbed round; 0 where it is never quiet")
    parser.add_argument(
        "--precision", choices=["normal", "low"], default="normal", help="low: bf16 or fp16 where there is"
    )
    parser.add_argument(
        "--clock", choices=["wall", "cpu"], default="wall", help="cpu: the process's own time, for one thread"
    )
    parser.add_argument("--isa", default="", help="force our CPU instruction set")
    parser.add_argument("--python", action="append", default=[], metavar="ENGINE=PATH", help="interpreter of an engine")
    parser.add_argument("--seed", type=int, default=1, help="of the order of bursts")
    parser.add_argument("--json", metavar="FILE", help="also write everything to this file")
    parser.add_argument("--resume", action="store_true", help="continue the run that wrote the file of --json")
    parser.add_argument("--chart", metavar="FILE", help="also draw the ratios (matplotlib)")
    parser.add_argument("--verbose", action="store_true", help="show what the engines print")
    parser.add_argument("--worker", choices=engines.NAMES, help=argparse.SUPPRESS)
    parser.add_argument("--way", help=argparse.SUPPRESS)
    args = parser.parse_args()
    try:
        args.threads = [int(count) for count in args.threads.split(",")]
    except ValueError:
        parser.error("--threads wants numbers separated by commas")
    args.cpus = sorted(os.sched_getaffinity(0))
    if min(args.threads) < 1 or max(args.threads) > len(args.cpus):
        parser.error(f"--threads: there are {len(args.cpus)} CPUs, one for each thread is needed")
    if args.clock == "cpu" and args.threads != [1]:
        parser.error("--clock cpu is for one thread: waiting workers use time, too")
    if min(args.sets, args.loads) < 1 or min(args.rounds, args.retries) < 0:
        parser.error("--sets and --loads are at least 1, --rounds and --retries at least 0")
    if args.resume and not args.json:
        parser.error("--resume wants --json, the file to continue")
    args.pythons = dict(pair.split("=", 1) for pair in args.python if "=" in pair)
    if len(args.pythons) != len(args.python) or set(args.pythons) - set(engines.NAMES):
        parser.error("--python wants ENGINE=PATH, once an engine")
    return parser, args


def missing(args, name):
    """Returns why an engine cannot be started, or None."""
    if name in engines.LIBRARIES:
        option = engines.LIBRARIES[name]
        path = getattr(args, option)
        return None if os.path.exists(path) else f"there is no library '{path}' (--{option})"
    module = engines.MODULES[name]
    if name not in args.pythons:
        there = importlib.util.find_spec(module) is not None
    else:
        probe = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module!r}) is None)"
        try:
            there = subprocess.run([args.pythons[name], "-c", probe]).returncode == 0
        except OSError as error:
            return str(error)
    return None if there else f"the package {module} is not installed"


def choose_engines(parser, args):
    wanted = args.engines.split(",") if args.engines else list(engines.NAMES)
    chosen = []
    for name in wanted:
        if name not in engines.NAMES:
            parser.error(f"--engines: no engine {name}")
        reason = missing(args, name)
        if reason and (args.engines or name == "ours"):
            parser.error(f"{name}: {reason}")
        if not reason:
            chosen.append(name)
        elif name != "before" or args.before:
            print(f"left out: {name}: {reason}")
    return chosen


def choose_nets(parser, args):
    """Returns the nets to run, and those of the fixed list that are missing."""
    found = nets.find(args.folders)
    if args.models:
        wanted = args.models.split(",")
        unknown = set(wanted) - {net.name for net in found}
        if unknown:
            parser.error("no such net: " + ", ".join(sorted(unknown)))
        return [net for net in found if net.name in wanted], []
    if not found:
        parser.error("no folder with a case.npz or a case.json")
    there = {net.name for net in found}
    begun = [names for names in lists.GROUPS.values() if there.intersection(names)]
    return found, [name for names in begun for name in names if name not in there]


def earlier_rows(parser, args, conditions):
    """Returns the rows of the file to continue, without the nets on which ours failed; none without --resume."""
    try:
        rows = resume.rows_of(args.json, conditions) if args.resume else []
    except (OSError, resume.Mismatch) as error:
        parser.error(f"--resume: {error}")
    return [row for row in rows if ours_is_whole(row, conditions["engines"])]


def ours_is_whole(row, engines):
    """Returns whether our engine, where it is one of them, ran this net each time."""
    return "ours" not in engines or ("ours" in row["engines"] and "ours" not in row["failures"])


def measure(args, chosen, found, rows, save):
    """Appends the rows that are missing, and prints all that belong to these nets and numbers of threads."""
    shuffle = random.Random(args.seed)
    there = {(row["model"], row["threads"]): row for row in rows}
    for threads in args.threads:
        canary = quiet.Canary(args.cpus[:threads]) if threads > 1 else None
        try:
            for net in found:
                row = there.get((net.name, threads))
                if row is None:
                    row, loads = duel.duel(args, chosen, net, threads, shuffle, canary)
                    wanted = args.loads if threads == min(args.threads) else 1
                    duel.measure_costs(args, chosen, row, net, threads, shuffle, loads, wanted)
                    resume.refuse_other_versions(rows, row)
                    rows.append(row)
                    if args.json:  # after each net: a long run may be cut short
                        save()
                print(report.row_line(row, chosen), flush=True)
        finally:
            if canary:
                canary.close()


def main():
    parser, args = parse()
    if args.worker:
        args.threads = args.threads[0]
        args.cpus = args.cpus[: args.threads]
        return worker.work(args)
    chosen = choose_engines(parser, args)
    found, absent = choose_nets(parser, args)
    for name in absent:
        print(f"not there: {name}")
    conditions = resume.conditions(args, chosen)
    rows = earlier_rows(parser, args, conditions)
    print("\n".join(report.header(args)))
    print(report.column_titles(chosen), flush=True)
    try:
        measure(args, chosen, found, rows, lambda: report.write_json(args.json, conditions, rows, absent))
    except resume.Mismatch as error:
        parser.error(f"--resume: {error}")
    print("\n".join(report.costs_table(rows, chosen) + report.costs_lines(report.summarise_costs(rows, chosen))))
    print("\n".join(report.summary_lines(report.summarise(rows))))
    print("\n" + "; ".join(report.versions(rows).values()))
    if args.chart:
        report.write_chart(args.chart, rows, chosen)
    return 0 if all(ours_is_whole(row, chosen) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
