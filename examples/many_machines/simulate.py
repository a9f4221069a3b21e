#!/usr/bin/env python3
"""Simulates a job of many blocks of rows, to find what limits a thousand workers where no thousand workers are at hand.

The simulation has actors that the cluster creates one after another, processes that share a machine's disk and cores
while they start, the transfer of the model to each machine, a driver that assigns blocks one after another, blocks that
take unequal times, machines that are slow, and workers that die and whose blocks are repeated. docs/many-machines.md
discusses the figures. Seeded: the same arguments print the same table.

    python3 simulate.py
"""

import argparse
import heapq
import math
import random


def first_blocks(a, workers, pull):
    """Returns when each worker is ready: created, its process started, the model on its machine, a session planned."""
    machines = math.ceil(workers / a.per_machine)
    size = a.model_mb / a.network_mb
    if pull == "one source":  # all machines load at once over the source's line
        there = [machines * size] * machines
    else:  # each machine that has the model passes it on: twice as many after each round
        there = [math.ceil(math.log2(i + 2)) * size for i in range(machines)]
    ready = []
    for i in range(workers):
        machine, place = i % machines, i // machines
        created = i / a.actors_per_second
        started = created + a.start * (1 + place // a.start_at_once)
        ready.append(max(started, created + there[machine]) + a.plan)
    return ready


def run(a, workers, block, pull="passed on", slow=None, seed=1):
    """Returns when the last block ends, and the share of the workers' time that was useful work."""
    chance = random.Random(seed)
    machines = math.ceil(workers / a.per_machine)
    share = a.slow_machines if slow is None else slow
    speed = [a.slow_factor if chance.random() < share else 1.0 for _ in range(machines)]
    ready = first_blocks(a, workers, pull)
    free = [(at, i) for i, at in enumerate(ready)]
    heapq.heapify(free)
    blocks = math.ceil(a.rows / block)
    begun = end = useful = 0.0
    ends = []
    left = blocks
    while left:
        at, worker = heapq.heappop(free)
        begun = max(begun + 1 / a.blocks_per_second, at)
        usual = block * a.row_ms / 1000 * chance.lognormvariate(0, a.spread)
        took = usual * speed[worker % machines]
        if chance.random() < took / (a.hours_to_death * 3600):  # the worker dies in the middle; the block is repeated
            heapq.heappush(free, (begun + took * chance.random() + a.notice + a.start + a.plan, worker))
            continue
        left -= 1
        useful += block * a.row_ms / 1000
        ends.append(begun + took)
        end = max(end, begun + took)
        heapq.heappush(free, (begun + took, worker))
    return sorted(ready), sorted(ends), end, useful / (workers * end)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value, meaning in (
        ("rows", 100_000_000, "rows of the job"),
        ("row-ms", 5.0, "milliseconds of one worker for a row"),
        ("per-machine", 16, "workers of a machine"),
        ("actors-per-second", 40.0, "actors that the cluster creates"),
        ("start", 4.0, "seconds from an actor to a process with its packages loaded"),
        ("start-at-once", 4, "processes that a machine starts in that time"),
        ("plan", 0.3, "seconds for loading the model and planning a session"),
        ("model-mb", 100.0, "size of the model"),
        ("network-mb", 250.0, "MB/s of a machine's line"),
        ("blocks-per-second", 500.0, "blocks that the driver hands out"),
        ("spread", 0.15, "sigma of the logarithm of a block's time"),
        ("slow-machines", 0.02, "share of machines that are slow"),
        ("slow-factor", 3.0, "how much longer these take"),
        ("hours-to-death", 200.0, "hours until a worker dies"),
        ("notice", 10.0, "seconds until the cluster notices"),
    ):
        parser.add_argument("--" + name, type=type(value), default=value, help=f"{meaning} ({value})")
    a = parser.parse_args()

    print("workers  block rows  blocks   ready: half, all    99 % done     end   ideal  useful work")
    for workers in (1, 10, 100, 1000):
        for block in (1_000, 10_000, 100_000):
            ready, ends, end, useful = run(a, workers, block)
            ideal = a.rows * a.row_ms / 1000 / workers
            print(f"{workers:7} {block:11} {len(ends):7} {ready[len(ready) // 2]:9.1f} {ready[-1]:7.1f} s"
                  f" {ends[int(len(ends) * 0.99)]:10.0f} {end:9.0f} {ideal:7.0f} {useful:11.1%}")  # fmt: skip
    print("\n1000 workers, blocks of 10000 rows:")
    for name, options in (
        ("as above", {}),
        ("no slow machine", {"slow": 0.0}),
        ("a tenth of the machines slow", {"slow": 0.1}),
        ("the model from one source", {"pull": "one source"}),
    ):
        ready, _, end, useful = run(a, 1000, 10_000, **options)
        print(f"  {name:30} all ready after {ready[-1]:6.1f} s, end {end:6.0f} s, {useful:.1%} useful work")


if __name__ == "__main__":
    main()
