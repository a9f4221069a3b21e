"""The process of one engine with one net: loads, checks, then answers on stdout.

It reports how long loading took up to the first result, and the net's peak memory: the largest resident set of loading
and two runs, less the memory that the process held with its runtime imported and no net. It checks the outputs
afterwards, since the copies of outputs that the check makes are not the engine's.

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
        pass  # the peak then includes the memory of importing


def available_bytes():
    with open("/proc/meminfo") as info:
        return next(int(line.split()[1]) for line in info if line.startswith("MemAvailable")) * 1024


def back_memory(wanted):
    """Touches as many bytes as loading may need and releases them. The host of a virtual machine may provide memory
    only when it is first touched, and take back free memory after some seconds: that costs several times as much as loading,
    and hits one engine or the other by chance."""
    private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    with mmap.mmap(-1, min(wanted, available_bytes() // 2), flags=private) as memory:
        memory.madvise(mmap.MADV_HUGEPAGE)
        touched = np.frombuffer(memory, np.uint8)
        touched[:: mmap.PAGESIZE] = 1
        del touched


def end_with_parent():
    """A stopped process would outlive a parent that is killed, so the kernel ends it with its parent."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def load(args, net, clock):
    """Returns the engine after two runs, and the facts to report: an engine may plan its memory in the first run."""
    engine = engines.create(args.worker, args)
    files = [net.file(name) for name in engines.MODEL_FILES[args.worker]]
    back_memory(4 * sum(os.path.getsize(file) for file in files) + (64 << 20))
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
    """Checks two runs: an engine that spoils its own weights or inputs fails in the second one."""
    for last in (False, True):
        fault = net.wrong(engine.results(), net.tolerance(args.worker, args.precision))
        if fault:
            raise RuntimeError(fault)
        if not last:
            engine.set_inputs()
            engine.run()


def work(args):
    end_with_parent()
    # Replies go to the real stdout; everything that a runtime prints goes to stderr.
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    os.sched_setaffinity(0, args.cpus)
    clock = time.process_time if args.clock == "cpu" else time.perf_counter
    try:
        net = nets.Net(args.folders[0])
        net.load_tensors()
        engine, hello = load(args, net, clock)
        check(args, net, engine)
    except Exception as error:  # any kind of exception: the report has its text
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
