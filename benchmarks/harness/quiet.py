"""Checks that no other load disturbed a round: who used the CPUs, and whether two CPUs gave the rate of two."""

import subprocess
import sys
import time

FOREIGN_SHARE = 0.05
CANARY_SECONDS = 0.02
CANARY_RATE = 0.90

# A small product of matrices, again and again: FMA units and nothing else.
CANARY = """
import os, sys, time
import numpy as np
os.sched_setaffinity(0, [int(sys.argv[1])])
a = np.ones((192, 192), np.float32); c = np.empty_like(a)
print(flush=True)
for line in sys.stdin:
    begin, runs = time.perf_counter(), 0
    while time.perf_counter() - begin < float(line):
        np.matmul(a, a, out=c); runs += 1
    print(runs / (time.perf_counter() - begin), flush=True)
"""


def busy_ticks(cpus):
    """Returns the ticks that these CPUs were busy by /proc/stat: all but idle and waiting, so stolen time counts,
    too."""
    wanted, total = {f"cpu{cpu}" for cpu in cpus}, 0
    with open("/proc/stat") as stat:
        for line in stat:
            name, *ticks = line.split()
            if name in wanted:
                total += sum(map(int, ticks[:8])) - int(ticks[3]) - int(ticks[4])
    return total


class ForeignLoad:
    """The share of the CPUs' time that others took while the block ran."""

    def __init__(self, cpus, processes):
        self.cpus, self.processes = cpus, processes

    def own(self):
        return sum(process.cpu_ticks() for process in self.processes) + 100 * time.process_time()

    def __enter__(self):
        self.begin = time.monotonic(), busy_ticks(self.cpus), self.own()
        return self

    def __exit__(self, *_):
        seconds, busy, own = self.begin
        available = max((time.monotonic() - seconds) * 100 * len(self.cpus), 1)
        foreign = busy_ticks(self.cpus) - busy - (self.own() - own)
        # Counters advance in whole ticks, so two of them are no load.
        self.share = max(foreign - 2, 0) / available


class Canary:
    """Checks, for two threads and more, that the CPUs reach their rates together: the host may share one core."""

    def __init__(self, cpus):
        self.workers = [
            subprocess.Popen(
                [sys.executable, "-c", CANARY, str(cpu)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )
            for cpu in cpus
        ]  # fmt: skip
        for worker in self.workers:
            worker.stdout.readline()
        self.best = 0.0  # the highest rate that one CPU has reached
        for _ in range(5):
            self.rate(self.workers[:1])

    def rate(self, workers):
        for worker in workers:
            worker.stdin.write(f"{CANARY_SECONDS}\n")
            worker.stdin.flush()
        rates = [float(worker.stdout.readline()) for worker in workers]
        self.best = max(self.best, *rates)
        return sum(rates)

    def content(self):
        return self.rate(self.workers) >= CANARY_RATE * self.best * len(self.workers)

    def close(self):
        for worker in self.workers:
            worker.stdin.close()
            worker.stdout.close()
            worker.wait()
