#!/usr/bin/env python3
"""Times libmnn_c against the official MNN wheel on the same models, inputs and thread count.

    python3 benchmarks/compare.py --library build/release/libmnn_c.so --threads 1 --rounds 11 MODELS/*/

Each folder holds model.mnn, case.json, inputs and expected outputs (.npy), as `mnn verify` wants them. Each engine is a
process of its own, pinned to CPU 0 (1 thread) or CPUs 0 and 1 (2 threads), loaded once; it answers "run N" on stdin with
N times around one inference: input already set, again before every run and outside the clock, since the official session
overwrites it; output copied to host memory inside. Outputs are checked first: a wrong answer has no time. A round is one
burst of each engine, order shuffled, first run of a burst dropped. Per model: the median over rounds of the paired ratio
ours / official of burst medians, with p10 and p90; below 1 we are faster. Peak memory is VmHWM above what the process
held with its engine's library loaded and no model. Models that the official session refuses (control flow) go through
its module interface ("module" in the table). The wheel has no AVX-512: see it as an anchor, not as the fastest build.

Needs numpy, and the MNN wheel for --official-python (default: this interpreter).
"""
import argparse
import ctypes
import json
import math
import os
import random
import statistics
import subprocess
import sys
import time

import numpy as np

OFFICIAL_TOLERANCE = 5e-3  # its Winograd and approximate functions miss the cases' own
BURST_SECONDS = 0.09


# ---- A worker: one engine with one model ------------------------------------------------------------------------


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


def read_case(folder):
    with open(os.path.join(folder, "case.json")) as file:
        case = json.load(file)

    def load(entry):
        return np.ascontiguousarray(np.load(os.path.join(folder, entry["file"])))

    inputs = {entry["name"]: load(entry) for entry in case["inputs"]}
    outputs = {entry["name"]: load(entry) for entry in case["outputs"]}
    return os.path.join(folder, case["model"]), inputs, outputs, case


class ScheduleConfig(ctypes.Structure):
    """mnn_schedule_config_t of mnn_c.h."""

    _fields_ = (
        [("struct_size", ctypes.c_size_t)]
        + [
            (name, ctypes.c_int32)
            for name in "forward_type backup_type allow_fallback threads precision memory power gpu_mode".split()
        ]
        + [("cpu_isa", ctypes.c_char_p), ("outputs", ctypes.c_void_p), ("output_count", ctypes.c_size_t)]
        + [("save_tensors", ctypes.c_void_p), ("save_tensor_count", ctypes.c_size_t)]
        + [("max_memory_bytes", ctypes.c_uint64), ("max_loop_iterations", ctypes.c_uint64),
           ("device", ctypes.c_char_p)]
    )


class Ours:
    TYPES = {1: np.float32, 3: np.int32, 4: np.uint8, 6: np.int8}
    via = "session"

    def __init__(self, args):
        self.lib = ctypes.CDLL(os.path.abspath(args.library))
        self.lib.mnn_last_error.restype = ctypes.c_char_p
        self.args = args

    def check(self, status):
        if status != 0:
            raise RuntimeError(f"{self.lib.mnn_last_error().decode()} (status {status})")

    def load(self, path, inputs, outputs):
        lib = self.lib
        net, self.session = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(lib.mnn_interpreter_create_from_file(path.encode(), None, ctypes.byref(net)))
        self.convolutional = self.is_convolutional(net)
        config = ScheduleConfig()
        self.check(lib.mnn_schedule_config_init(ctypes.byref(config), ctypes.c_size_t(ctypes.sizeof(config))))
        config.threads = self.args.threads
        config.cpu_isa = self.args.isa.encode() if self.args.isa else None
        self.check(lib.mnn_session_create(net, ctypes.byref(config), ctypes.byref(self.session)))
        self.inputs = []
        for name, array in inputs.items():
            tensor = ctypes.c_void_p()
            self.check(lib.mnn_session_input(self.session, name.encode(), ctypes.byref(tensor)))
            dims = (ctypes.c_int32 * max(array.ndim, 1))(*array.shape)
            self.check(lib.mnn_session_resize_input(self.session, tensor, dims, ctypes.c_size_t(array.ndim)))
            self.inputs.append((tensor, array))
        self.check(lib.mnn_session_resize(self.session))
        self.outputs = []
        for name, array in outputs.items():
            tensor = ctypes.c_void_p()
            self.check(lib.mnn_session_output(self.session, name.encode(), ctypes.byref(tensor)))
            self.outputs.append((tensor, np.zeros_like(array)))

    def is_convolutional(self, net):
        """Pooling, depthwise or transposed convolutions: linear layers become Convolution in .mnn files, too."""
        count, kind, kinds = ctypes.c_size_t(), ctypes.c_char_p(), set()
        self.check(self.lib.mnn_interpreter_op_count(net, ctypes.byref(count)))
        for index in range(count.value):
            self.check(self.lib.mnn_interpreter_op_type(net, ctypes.c_size_t(index), ctypes.byref(kind)))
            kinds.add(kind.value.decode())
        return any(kind.startswith(("Pooling", "ConvolutionDepthwise", "Deconvolution")) for kind in kinds)

    def set_inputs(self):
        for tensor, array in self.inputs:
            data, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
            self.check(self.lib.mnn_tensor_write(tensor, data, size, 0))

    def run(self):
        self.check(self.lib.mnn_session_run(self.session))
        for tensor, array in self.outputs:
            data, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
            self.check(self.lib.mnn_tensor_read(tensor, data, size, 0))

    def results(self):
        for tensor, array in self.outputs:
            dims, rank, kind = (ctypes.c_int32 * 9)(), ctypes.c_size_t(), ctypes.c_int32()
            self.check(self.lib.mnn_tensor_shape(tensor, dims, ctypes.c_size_t(9), ctypes.byref(rank)))
            self.check(self.lib.mnn_tensor_type(tensor, ctypes.byref(kind)))
            if tuple(dims[: rank.value]) != array.shape or self.TYPES.get(kind.value) != array.dtype:
                raise RuntimeError(f"an output is {list(dims[:rank.value])}, expected {list(array.shape)}")
        return [array for _, array in self.outputs]


class OfficialSession:
    via = "session"

    def __init__(self, args):
        import MNN

        self.mnn, self.args = MNN, args

    def host(self, array):
        kinds = {"float32": self.mnn.Halide_Type_Float, "int32": self.mnn.Halide_Type_Int}
        caffe = self.mnn.Tensor_DimensionType_Caffe
        return self.mnn.Tensor(tuple(array.shape), kinds[str(array.dtype)], array, caffe)

    def load(self, path, inputs, outputs):
        self.net = self.mnn.Interpreter(path)
        config = {"backend": "CPU", "numThread": self.args.threads, "precision": "high"}
        self.session = self.net.createSession(config)
        if self.session is None:
            raise RuntimeError("no session")
        self.inputs = []
        for name, array in inputs.items():
            tensor = self.net.getSessionInput(self.session, name)
            self.net.resizeTensor(tensor, tuple(array.shape))
            self.inputs.append((tensor, self.host(array)))
        self.net.resizeSession(self.session)
        self.outputs = []
        for name, array in outputs.items():
            tensor = self.net.getSessionOutput(self.session, name)
            if tuple(tensor.getShape()) != array.shape:
                raise RuntimeError(f"output {name} is {tensor.getShape()}, expected {array.shape}")
            self.outputs.append((tensor, self.host(np.zeros_like(array))))

    def set_inputs(self):
        for tensor, host in self.inputs:
            tensor.copyFrom(host)

    def run(self):
        self.net.runSession(self.session)
        for tensor, host in self.outputs:
            tensor.copyToHostTensor(host)

    def results(self):
        return [np.array(host.getNumpyData()) for _, host in self.outputs]


class OfficialModule:
    via = "module"

    def __init__(self, args):
        import MNN
        import MNN.expr
        import MNN.nn

        self.mnn, self.args = MNN, args

    def load(self, path, inputs, outputs):
        expr = self.mnn.expr
        self.net = self.mnn.nn.load_module_from_file(
            path, list(inputs), list(outputs), backend=expr.Backend.CPU, precision_mode=expr.PrecisionMode.High,
            thread_num=self.args.threads,
        )  # fmt: skip
        kinds = {"float32": expr.float, "int32": expr.int}
        self.arrays = list(inputs.values())
        self.inputs = [
            expr.placeholder(list(array.shape), expr.NCHW, kinds[str(array.dtype)]) for array in self.arrays
        ]

    def set_inputs(self):
        for variable, array in zip(self.inputs, self.arrays):
            variable.write(array)

    def run(self):
        self.read = [np.array(output.read()) for output in self.net.forward(self.inputs)]

    def results(self):
        return self.read


def wrong(results, outputs, case, tolerance):
    """What is wrong with the results, or None."""
    unordered = case.get("unordered_rows", {}).get("outputs", [])
    for (name, expected), got in zip(outputs.items(), results):
        if got.size != expected.size:
            return f"output {name} has {got.size} elements, expected {expected.size}"
        got, expected = got.reshape(expected.shape).astype(np.float64), expected.astype(np.float64)
        if name in unordered:  # a list in any order: compare the sorted columns, loosely
            got, expected = np.sort(got, 0), np.sort(expected, 0)
            if np.mean(np.abs(got - expected)) <= max(tolerance, 1e-2) * np.abs(expected).max():
                continue
        error = np.abs(got - expected).max() / max(np.abs(expected).max(), 1e-300)
        if not error <= tolerance:
            return f"output {name} is off by {error:.1e} of its largest element"
    return None


def work(args):
    # The conversation keeps the real stdout; whatever an engine prints goes to stderr.
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    os.sched_setaffinity(0, range(args.threads))
    path, inputs, outputs, case = read_case(args.folders[0])
    engine = {"ours": Ours, "session": OfficialSession, "module": OfficialModule}[args.worker](args)
    tolerance = case["tolerance"]["relative_to_max"] if args.worker == "ours" else OFFICIAL_TOLERANCE
    try:
        base = status_kib("VmRSS")
        reset_peak()
        begin = time.perf_counter()
        engine.load(path, inputs, outputs)
        load_ms = (time.perf_counter() - begin) * 1e3
        for _ in range(2):  # twice: a session that spoils its own weights or inputs shows in the second run
            engine.set_inputs()
            engine.run()
            fault = wrong(engine.results(), outputs, case, tolerance)
            if fault:
                raise RuntimeError(fault)
    except Exception as error:
        print(json.dumps({"error": str(error) or type(error).__name__}), file=replies)
        return 1
    convolutional = getattr(engine, "convolutional", False)
    print(json.dumps({"via": engine.via, "load_ms": load_ms, "convolutional": convolutional}), file=replies)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "run":
            times = []
            for _ in range(int(words[1])):
                engine.set_inputs()
                begin = time.perf_counter()
                engine.run()
                times.append(time.perf_counter() - begin)
            print(json.dumps(times), file=replies)
        elif words[0] == "peak":
            print(json.dumps({"peak_kib": max(status_kib("VmHWM") - base, 0)}), file=replies)
        else:
            break
    return 0


# ---- The duel ---------------------------------------------------------------------------------------------------


class Engine:
    def __init__(self, args, kind, folder):
        python = sys.executable if kind == "ours" else args.official_python
        command = [python, os.path.abspath(__file__), "--worker", kind, "--threads", str(args.threads), folder]
        if kind == "ours":
            command += ["--library", args.library] + (["--isa", args.isa] if args.isa else [])
        environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
        log = None if args.verbose else subprocess.DEVNULL
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
        )
        self.hello = self.answer()
        if "error" in self.hello:
            self.close()
            raise RuntimeError(self.hello["error"])

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"ended with {self.process.wait()}")
        return json.loads(line)

    def ask(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        return self.answer()

    def burst(self):
        """The median of one burst, its first run dropped, in seconds."""
        return statistics.median(self.ask(f"run {self.runs + 1}")[1:])

    def calibrate(self):
        self.runs = 3
        self.runs = min(max(3, round(BURST_SECONDS / self.burst())), 2000)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def start_official(args, folder):
    try:
        return Engine(args, "session", folder)
    except (RuntimeError, BrokenPipeError):
        return Engine(args, "module", folder)


def quantile(values, q):
    return float(np.quantile(np.array(values), q))


def duel(args, folder, shuffle):
    engines = {}
    try:
        engines["ours"] = Engine(args, "ours", folder)
        engines["official"] = start_official(args, folder)
        for engine in engines.values():
            engine.calibrate()
        medians = {"ours": [], "official": []}
        for _ in range(args.rounds):
            order = list(engines)
            shuffle.shuffle(order)
            for name in order:
                medians[name].append(engines[name].burst())
        ratios = [ours / official for ours, official in zip(medians["ours"], medians["official"])]
        result = {"ratio": statistics.median(ratios), "p10": quantile(ratios, 0.1), "p90": quantile(ratios, 0.9)}
        result["via"] = engines["official"].hello["via"]
        result["convolutional"] = engines["ours"].hello["convolutional"]
        for name, engine in engines.items():
            result[name] = {
                "ms": statistics.median(medians[name]) * 1e3,
                "load_ms": engine.hello["load_ms"],
                "peak_mib": engine.ask("peak")["peak_kib"] / 1024,
            }
        return result
    finally:
        for engine in engines.values():
            if not engine.process.stdin.closed:
                engine.close()


def middle_duel(args, folder, shuffle):
    """The middle one of --sets fresh pairs of processes: page placement moves a process by some per cent."""
    results = sorted((duel(args, folder, shuffle) for _ in range(args.sets)), key=lambda result: result["ratio"])
    return results[len(results) // 2]


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def print_means(rows):
    for title, wanted in (("models", (True, False)), ("convolution models", (True,))):
        part = [(row["ratio"], name) for name, row in rows.items() if row["convolutional"] in wanted]
        if part:
            worst = max(part)
            mean = geometric_mean([ratio for ratio, _ in part])
            print(f"geometric mean over {len(part)} {title}: {mean:.3f}, worst {worst[0]:.3f} ({worst[1]})")


def compare(args):
    folders = [folder.rstrip("/") for folder in args.folders]
    folders = [folder for folder in folders if os.path.exists(os.path.join(folder, "case.json"))]
    if not folders:
        sys.exit("compare.py: no folder with a case.json")
    if args.threads > len(os.sched_getaffinity(0)):
        sys.exit(f"compare.py: {args.threads} threads need as many CPUs")
    shuffle = random.Random(args.seed)
    rows, failed = {}, 0
    print(
        f"{args.threads} thread(s), {args.rounds} rounds, {args.sets} set(s) of processes; ratio = ours / official\n"
        f"{'model':<22} {'ours ms':>9} {'off. ms':>9} {'ratio':>6} {'p10':>6} {'p90':>6} "
        f"{'load':>7} {'off.':>7} {'peak MiB':>9} {'off.':>7}  official"
    )
    for folder in folders:
        name = os.path.basename(folder)
        try:
            row = rows[name] = middle_duel(args, folder, shuffle)
        except (RuntimeError, BrokenPipeError) as error:
            failed += 1
            print(f"{name:<22} no time: {error}", flush=True)
            continue
        ours, official = row["ours"], row["official"]
        print(
            f"{name:<22} {ours['ms']:9.3f} {official['ms']:9.3f} {row['ratio']:6.3f} {row['p10']:6.3f} "
            f"{row['p90']:6.3f} {ours['load_ms']:7.1f} {official['load_ms']:7.1f} {ours['peak_mib']:9.1f} "
            f"{official['peak_mib']:7.1f}  {row['via']}",
            flush=True,
        )
    print_means(rows)
    if args.json:
        with open(args.json, "w") as file:
            json.dump({"threads": args.threads, "rounds": args.rounds, "models": rows}, file, indent=1)
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="DIR")
    parser.add_argument("--library", default="build/release/libmnn_c.so")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--sets", type=int, default=1, help="fresh pairs of processes; the middle one counts")
    parser.add_argument("--isa", default="", help="force our CPU instruction set")
    parser.add_argument("--official-python", default=sys.executable, help="interpreter that has the MNN wheel")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", help="also write the figures to this file")
    parser.add_argument("--verbose", action="store_true", help="show what the engines print")
    parser.add_argument("--worker", choices=["ours", "session", "module"], help=argparse.SUPPRESS)
    args = parser.parse_args()
    sys.exit(work(args) if args.worker else compare(args))


if __name__ == "__main__":
    main()
