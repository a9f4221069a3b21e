#!/usr/bin/env python3
"""Measures how much memory a further worker takes on one machine: starts 1, 2 and 4 processes with a predictor each and
adds up their proportional set sizes as Linux reports them (Pss: a page that n processes share counts 1/n in each).

    python3 memory.py [MODEL] [--rows N] [--apart]
"""

import argparse
import multiprocessing
import pathlib
import re

import numpy as np

DIGITS = pathlib.Path(__file__).resolve().parent.parent / "digits" / "digits.mnn"


def work(model, rows, apart, pipe):
    """Runs a worker: it predicts, reports that, and waits."""
    import mnn_c.batches

    if apart:  # without the sharing of mnn_c.batches, each process prepares weights of its own
        session = mnn_c.Interpreter(model).session()
        shapes = {each.name: (rows, *each.shape[1:]) for each in session.interpreter.inputs}
        session.run({name: np.zeros(shape, np.float32) for name, shape in shapes.items()})
        keep = session
    else:
        keep = mnn_c.batches.Predictor(model, rows=rows)
        shapes = {each.name: (rows, *each.shape[1:]) for each in keep._model.interpreter.inputs}
        keep({name: np.zeros(shape, np.float32) for name, shape in shapes.items()})
    pipe.send("ready")
    pipe.recv()
    del keep


def pss(process):
    text = pathlib.Path(f"/proc/{process.pid}/smaps_rollup").read_text()
    return int(re.search(r"^Pss:\s+(\d+)", text, re.M).group(1)) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default=str(DIGITS))
    parser.add_argument("--rows", type=int, default=1, help="rows of a run")
    parser.add_argument("--apart", action="store_true", help="sessions that share nothing, to compare")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    before = None
    for count in arguments.workers:
        pipes, processes = [], []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(target=work, args=(arguments.model, arguments.rows, arguments.apart, theirs),
                                      daemon=True)  # ends with this process, also where another one of them failed
            process.start()
            theirs.close()  # so that the end of the process is the end of the pipe
            pipes.append(ours)
            processes.append(process)
        for pipe in pipes:
            pipe.recv()
        total = sum(map(pss, processes))
        for pipe in pipes:
            pipe.send("end")
        for process in processes:
            process.join()
        more = "" if before is None else f", {(total - before[1]) / (count - before[0]):.1f} MiB for each further one"
        print(f"{count} workers: {total:.1f} MiB{more}")
        before = count, total


if __name__ == "__main__":
    main()
