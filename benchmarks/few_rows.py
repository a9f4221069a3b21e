#!/usr/bin/env python3
"""Products of few rows with weights that do not fit a cache, as in a decoder: floats, 8-bit and 4-bit weights.

    python3 benchmarks/few_rows.py --library build/release/libmnn_c.so --work DIR

The net has two products, 4096 to 16384 and back (134 million weights), which MNN's converter writes with float, 8-bit
and 4-bit weights (--block weights of an output share a scale; 0: all). The nets are made once, in --work; the sessions
use memory Low, which keeps weights quantised. For each number of rows the sessions take turns, together with a plain
read (memchr) of as many bytes as the weights have. The program prints medians of the rounds: the time of each form; for
one row, the part of the plain read's bandwidth that it reaches; the ratio to the float net's time for the same rows,
and to the time for one row. On a machine that is never quiet, --clock cpu leaves out the time in which others ran,
though not their effect on the caches and the memory.

Needs MNN (the official wheel), onnx and numpy.
"""

import argparse
import ctypes
import os
import statistics
import time
from types import SimpleNamespace

import numpy as np

from engines import ours
from harness import machine
from zoo import converters

DEPTH, WIDTH = 4096, 16384
FORMS = {"fp32": 4.0, "w8": 1.0, "w4": 0.5}  # bytes of a weight


def make_onnx(path):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(1)
    shapes = [(DEPTH, WIDTH), (WIDTH, DEPTH)]
    weights = [
        numpy_helper.from_array(random.standard_normal(shape, np.float32) / np.sqrt(np.float32(shape[0])), name)
        for shape, name in zip(shapes, "ab")
    ]
    nodes = [helper.make_node("MatMul", ["input", "a"], ["wide"]), helper.make_node("MatMul", ["wide", "b"], ["output"])]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["rows", DEPTH]) for name in ("input", "output")]
    graph = helper.make_graph(nodes, "few_rows", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def make_nets(folder, block):
    os.makedirs(folder, exist_ok=True)
    onnx = os.path.join(folder, "net.onnx")
    found = {}
    for form in FORMS:
        options = [] if form == "fp32" else ["--weightQuantBits", form[1]]
        if block and form != "fp32":
            options += ["--weightQuantBlock", str(block)]
        found[form] = os.path.join(folder, form + (f"b{block}" if options and block else "") + ".mnn")
        if os.path.exists(found[form]):
            continue
        if not os.path.exists(onnx):
            make_onnx(onnx)
        converters.mnn_from_onnx(onnx, found[form], *options)
    return found


class Net:
    """The attributes that an engine reads of a net."""

    def __init__(self, path, inputs):
        self.path, self.inputs, self.outputs = path, {"input": inputs}, {"output": np.zeros_like(inputs)}

    def file(self, _):
        return self.path


class PlainRead:
    def __init__(self, count):
        self.data = np.ones(count, np.uint8)
        libc = ctypes.CDLL(None)
        self.memchr, self.memchr.restype = libc.memchr, ctypes.c_void_p

    def run(self):
        self.memchr(ctypes.c_void_p(self.data.ctypes.data), 0, ctypes.c_size_t(self.data.nbytes))


def timed(run, now):
    begin = now()
    run()
    return now() - begin


def measure(args, nets, rows, reads):
    inputs = np.random.default_rng(rows).standard_normal((rows, DEPTH), np.float32)
    options = SimpleNamespace(library=args.library, threads=args.threads, precision="normal", isa=args.isa)
    jobs = {}
    for form, path in nets.items():
        engine = ours.Engine(options)
        engine.low_memory = True
        engine.load(Net(path, inputs))
        engine.set_inputs()
        engine.run()
        jobs[form] = engine
    jobs |= {"read " + form: read for form, read in reads.items()}
    times = {name: [] for name in jobs}
    now = time.thread_time if args.clock == "cpu" else time.perf_counter
    for _ in range(args.rounds):
        for name, job in jobs.items():
            times[name].append(timed(job.run, now))
    for form in nets:
        jobs[form].close()
    return {name: statistics.median(list_) for name, list_ in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default="build/release/libmnn_c.so")
    parser.add_argument("--work", required=True, help="folder for the nets, 1 GB")
    parser.add_argument("--rows", default="1,2,4,8,16", help="numbers of rows; the first is the base")
    parser.add_argument("--block", type=int, default=0, help="weights that share a scale")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--isa", default="", help="force our CPU instruction set")
    parser.add_argument(
        "--clock", choices=["wall", "cpu"], default="wall", help="cpu: the thread's own time, for one thread"
    )
    args = parser.parse_args()
    if args.clock == "cpu" and args.threads != 1:
        parser.error("--clock cpu is for one thread: the time of workers is not in it")
    if args.threads == 1 and args.clock == "wall":
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    nets = make_nets(args.work, args.block)
    about = machine.describe()
    print(f"{about['cpu']}; {about['caches']}; {args.threads} thread(s), {args.rounds} rounds")
    print(f"{'rows':>4} {'form':>5} {'ms':>9} {'of the bandwidth':>17} {'/ fp32':>7} {'/ one row':>10}")
    reads = {form: PlainRead(int(2 * DEPTH * WIDTH * size)) for form, size in FORMS.items()}
    first = None
    for rows in map(int, args.rows.split(",")):
        times = measure(args, nets, rows, reads)
        first = first or times
        for form in FORMS:
            share = f"{times['read ' + form] / times[form]:.0%}"
            print(f"{rows:4} {form:>5} {times[form] * 1e3:9.2f} {share:>17} {times[form] / times['fp32']:7.2f} "
                  f"{times[form] / first[form]:10.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
