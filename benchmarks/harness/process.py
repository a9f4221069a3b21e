"""Engines as processes: started, queried, and stopped while another one runs."""

import json
import os
import select
import signal
import statistics
import subprocess
import sys

import engines

BURST_SECONDS = 0.09
MAX_RUNS = 2000
PATIENCE_SECONDS = 300
SCRIPT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "compare.py")
# The engines get their number of threads by their own options; numpy's threads would disturb them.
ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Failed(RuntimeError):
    """An engine cannot run a net, or gave a wrong answer; the text says why."""


class Process:
    """One engine with one net. A signal stops it between bursts, so that no idle worker spins; the first run after that
    is not counted."""

    def __init__(self, args, engine, net, threads, way=None):
        self.way = way
        command = [args.pythons.get(engine, sys.executable), SCRIPT, "--worker", engine, "--threads", str(threads)]
        command += ["--precision", args.precision, "--library", args.library, "--before", args.before, "--isa", args.isa]
        command += ["--clock", args.clock]
        command += ["--way", way or "", net.folder]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, **ENVIRONMENT, "OMP_NUM_THREADS": str(threads)},
            stderr=None if args.verbose else subprocess.DEVNULL,
        )  # fmt: skip
        try:
            self.hello = self.answer()
            if "error" in self.hello:
                raise Failed(self.hello["error"])
        except BaseException:
            self.close()
            raise

    def answer(self):
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_SECONDS)
        if not ready:
            raise Failed(f"gave no answer in {PATIENCE_SECONDS} s")
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"its process ended with {self.process.wait()}")
        return json.loads(line)

    def ask(self, text):
        os.kill(self.process.pid, signal.SIGCONT)
        try:
            self.process.stdin.write(text + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed(f"its process ended with {self.process.wait()}") from None
        reply = self.answer()
        os.kill(self.process.pid, signal.SIGSTOP)
        return reply

    def burst(self):
        """Returns the median of one burst in seconds, without its first run: caches then still hold the other engines'
        data."""
        return statistics.median(self.ask(f"run {self.runs + 1}")[1:])

    def calibrate(self):
        self.runs = 3
        self.burst()  # warm-up
        self.seconds = self.burst()
        self.runs = min(max(3, round(BURST_SECONDS / max(self.seconds, 1e-7))), MAX_RUNS)

    def cpu_ticks(self):
        """Returns the CPU time that the process has used, in ticks of /proc/stat; 0 when it has ended."""
        try:
            with open(f"/proc/{self.process.pid}/stat") as stat:
                fields = stat.read().rpartition(")")[2].split()
        except OSError:
            return 0
        return int(fields[11]) + int(fields[12])

    def close(self):
        self.process.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def start(args, engine, net, threads):
    """Starts the engine's process with the first of its interfaces that gives the right answer."""
    missing = net.missing_for(engine)
    if missing:
        raise Failed("the net's folder has no " + " and no ".join(missing))
    faults = []
    for way in engines.WAYS.get(engine, (None,)):
        try:
            return Process(args, engine, net, threads, way)
        except Failed as fault:
            faults.append(f"{way}: {fault}" if way else str(fault))
    raise Failed("; ".join(faults))
