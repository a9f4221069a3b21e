"""The process of one engine with one net: loads, checks, then answers on stdout.

It says how long loading took up to the first result, and how much memory the net took at most: the largest resident set
of loading and two runs, above what the process held with its runtime imported and no net. Checking comes afterwards, since
its copies of the outputs are no engine's.

run N     N times in seconds around one inference each, inputs set again before each and outside of the clock
"""

import ctypes
import json
import mmap
import os
import signal
import sys
import time

import numpy as np

import engines
from harness import nets


def status_kib(field):
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1])
    return 0


def reset_peak():
    try:
        with open("/proc/self/clear_refs", "w") as refs:
            refs.write("5")
    except OSError:
        pass  # the peak then includes what importing took


def available_bytes():
    with open("/proc/meminfo") as info:
        return next(int(line.split()[1]) for line in info if line.startswith("MemAvailable")) * 1024


def back_memory(args, net):
    """Touches what loading may need and gives it back. The host of a virtual machine may bring memory when it is first
    touched, and take back what is free for some seconds: that costs several times what loading does, now for one engine and
    now for the other."""
    files = [net.file(name) for name in engines.MODEL_FILES[args.worker]]
    wanted = 4 * sum(os.path.getsize(file) for file in files) + (64 << 20)
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    with mmap.mmap(-1, min(wanted, available_bytes() // 2), flags=private) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        touched = np.frombuffer(memory, np.uint8)
        touched[:: mmap.PAGESIZE] = 1
        del touched


def end_with_parent():
    """A stopped process would outlive a parent that is killed."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def load(args, net, clock):
    """The engine after two runs, and what to say about it: an engine may plan its memory in the first one."""
    engine = engines.create(args.worker, args)
    back_memory(args, net)
    base = status_kib("VmRSS")
    reset_peak()
    begin = clock()
    engine.load(net)
    engine.set_inputs()
    engine.run()
    seconds = clock() - begin
    engine.set_inputs()
    engine.run()
    peak = max(status_kib("VmHWM") - base, 0)
    return engine, {"version": engine.version, "load_ms": seconds * 1e3, "peak_mib": peak / 1024}


def check(args, net, engine):
    """Twice: an engine that spoils its own weights or inputs shows in the second run."""
    for last in (False, True):
        fault = net.wrong(engine.results(), net.tolerance(args.worker, args.precision))
        if fault:
            raise RuntimeError(fault)
        if not last:
            engine.set_inputs()
            engine.run()


def work(args):
    end_with_parent()
    # The conversation keeps the real stdout; all that a runtime prints goes to stderr.
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    os.sched_setaffinity(0, args.cpus)
    clock = time.process_time if args.clock == "cpu" else time.perf_counter
    try:
        net = nets.Net(args.folders[0])
        net.load_tensors()
        engine, hello = load(args, net, clock)
        check(args, net, engine)
    except Exception as error:  # of any kind: the report has its sentence
        sentence = " ".join(str(error).split()) or type(error).__name__
        print(json.dumps({"error": sentence}), file=replies)
        return 1
    print(json.dumps(hello), file=replies)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "run":
            times = []
            for _ in range(int(words[1])):
                engine.set_inputs()
                begin = clock()
                engine.run()
                times.append(clock() - begin)
            print(json.dumps(times), file=replies)
    return 0
