#!/usr/bin/env python3
"""Language models beside the official runtime and llama-cpp-python.

    python3 benchmarks/language_models.py --library build/release/libmnn_c.so FOLDER...

A folder is what llmexport wrote, with a .gguf of the same weights in it (benchmarks/make_language_model.py makes both).
The engines:

    ours        memory low: quantised weights, activations of 16 bits
    ours-low    memory and precision low, as the exporter's config.json asks for: products of fewer bits where the CPU has
                them; keys and values have 16 bits, as those of llama
    official    MNN.llm of the wheel, memory and precision low: activations of 8 bits
    llama       llama-cpp-python with the .gguf: activations of 8 bits, and other blocks of weights than the .mnn file

In each round each engine gets a process of its own, in turn, for each number of threads. The process imports its
runtime, loads the net (its files are in the page cache), computes --short tokens, then --decode tokens one by one, and
forgets them; then it computes --prompt tokens in one run, --prefills times, and forgets them each time. All engines get
the same tokens. The program prints medians of the rounds:

    decode      tokens per second, by the median token, and the part of the bandwidth of a plain read of as many bytes
                as llm.mnn.weight has, which a process of its own does in each round with as many threads
    prefill     tokens per second of --prompt tokens, by the fastest run of a process
    MiB         peak of the whole above the process with its runtime imported; mapped files count
    first       ms from the start of loading to the logits of the --short tokens, and its ratio to reading
                llm.mnn.weight once from the page cache into new memory
    cosine      the smallest, over both prompts and all rounds, of its last logits and those of the first engine

On a machine that is never quiet, --clock cpu leaves out the time in which others ran, though not their effect on the
caches and the memory. A round is noisy when other processes or the host took more than 5 percent of the CPUs meanwhile.

Needs numpy, and in the engines' interpreters (--python official=PATH) MNN or llama-cpp-python.
"""

import argparse
import concurrent.futures
import ctypes
import glob
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from engines import language
from harness import machine, quiet, worker

READ = "read"
PATIENCE_SECONDS = 600
WARM_TOKENS = 3  # the first tokens behind a prompt, which are not timed


def tokens_of(count, vocabulary):
    """Returns the same tokens for every engine; the first three often have a meaning of their own."""
    return [3 + (i * 7919 + 13) % (vocabulary - 3) for i in range(count)]


# ---- The process of one engine


def clock_of(args):
    return time.process_time if args.clock == "cpu" else time.perf_counter


def read_plainly(args):
    """Times reads of as many bytes as the weights have: from memory by all threads, and from the page cache once."""
    path = language.Folder(args.folders[0]).weights_file()
    size = os.path.getsize(path)
    worker.back_memory(4 * size + (64 << 20))
    clock = clock_of(args)
    begin = clock()
    data = np.empty(size, np.uint8)
    with open(path, "rb", buffering=0) as file:
        done = 0
        while done < size:
            done += file.readinto(data[done : done + (8 << 20)])
    file_ms = 1e3 * (clock() - begin)
    data.fill(1)
    libc = ctypes.CDLL(None)
    libc.memchr.restype = ctypes.c_void_p
    parts = np.array_split(data, args.threads)

    def scan(part):
        libc.memchr(ctypes.c_void_p(part.ctypes.data), 0, ctypes.c_size_t(part.nbytes))

    times = []
    with concurrent.futures.ThreadPoolExecutor(args.threads) as pool:
        while len(times) < 5 or (sum(times) < 1 and len(times) < 100):
            begin = clock()
            list(pool.map(scan, parts))
            times.append(clock() - begin)
    return {"version": "memchr", "read_ms": 1e3 * statistics.median(times), "file_ms": file_ms}


def run_engine(args):
    kind, settings = language.ENGINES[args.worker]
    for name, value in settings.items():
        setattr(args, name, value)
    args.max_tokens, args.max_run = max(args.short + args.decode, args.prompt), max(args.short, args.prompt)
    folder = language.Folder(args.folders[0])
    vocabulary = folder.tokens
    path = gguf_of(args, args.folders[0]) if args.worker == "llama" else args.folders[0]
    tokens = tokens_of(max(args.short + args.decode, args.prompt), vocabulary)
    engine = kind(args)
    worker.back_memory(4 * os.path.getsize(folder.weights_file()) + (64 << 20))
    base = worker.status_kib("VmRSS")
    worker.reset_peak()
    clock = clock_of(args)
    begin = clock()
    engine.load(path)
    logits = engine.forward(tokens[: args.short])
    first = clock() - begin
    times = []
    for token in tokens[args.short : args.short + args.decode]:
        begin = clock()
        logits = engine.forward([token])
        times.append(clock() - begin)
    decode_peak = worker.status_kib("VmHWM") - base
    prefills = []
    last = [logits]
    for _ in range(args.prefills):
        engine.reset()
        begin = clock()
        logits = engine.forward(tokens[: args.prompt])
        prefills.append(clock() - begin)
    last.append(logits)
    peak = worker.status_kib("VmHWM") - base
    np.save(args.logits, np.stack(last))
    times = times[WARM_TOKENS:]
    return {
        "version": engine.version, "about": getattr(engine, "about", ""), "first_ms": 1e3 * first,
        "token_ms": 1e3 * statistics.median(times), "prefill_ms": 1e3 * min(prefills),
        "first_prefill_ms": 1e3 * prefills[0], "decode_peak_mib": decode_peak / 1024, "peak_mib": peak / 1024,
    }  # fmt: skip


def work(args):
    worker.end_with_parent()
    # The reply goes to the real stdout; everything that a runtime prints goes to stderr.
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.threads])
    try:
        reply = read_plainly(args) if args.worker == READ else run_engine(args)
    except Exception as error:  # any kind of exception: the report has its text
        reply = {"error": " ".join(str(error).split()) or type(error).__name__}
    print(json.dumps(reply), file=replies)
    # Some runtimes fail in their destructors, which is not what is measured.
    replies.flush()
    os._exit(0)


# ---- The program


def gguf_of(args, folder):
    if args.gguf:
        return args.gguf
    found = sorted(glob.glob(os.path.join(folder, "*.gguf")))
    if len(found) != 1:
        raise RuntimeError(f"{len(found)} .gguf files in {folder}; --gguf names one")
    return found[0]


class Children:
    """Stands for all processes that have ended, to ask for their CPU time."""

    def cpu_ticks(self):
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return 100 * (used.ru_utime + used.ru_stime)


def turn(args, engine, folder, threads, logits):
    """Runs one engine's process and returns its reply, with the part of the CPUs' time that others took."""
    command = [args.pythons.get(engine, sys.executable), os.path.abspath(__file__), "--worker", engine]
    command += ["--threads", str(threads), "--library", args.library, "--logits", logits, os.path.abspath(folder)]
    for name in ("short", "decode", "prompt", "prefills", "clock"):
        command += ["--" + name, str(getattr(args, name))]
    if args.gguf:
        command += ["--gguf", os.path.abspath(args.gguf)]
    cpus = sorted(os.sched_getaffinity(0))[:threads]
    single = {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": str(threads)}
    with quiet.ForeignLoad(cpus, [Children()]) as load:
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, text=True, env={**os.environ, **single}, timeout=PATIENCE_SECONDS,
                stderr=None if args.verbose else subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"error": f"gave no answer in {PATIENCE_SECONDS} s"}
    if not done.stdout.strip():
        return {"error": f"its process ended with {done.returncode}"}
    return {**json.loads(done.stdout), "foreign": load.share}


def cosines(first, other):
    return [float(a @ b / np.sqrt((a @ a) * (b @ b))) for a, b in zip(first.astype(np.float64), other)]


def measure(args, folder, rows, save):
    """Appends a row for each round, number of threads and engine."""
    with tempfile.TemporaryDirectory() as scratch:
        reference = os.path.join(scratch, "reference.npy")
        for round_ in range(args.rounds):
            # The first round keeps the order, since the first engine's logits are what others are compared with.
            begin = round_ % len(args.chosen)
            order = [READ] + args.chosen[begin:] + args.chosen[:begin]
            for threads in args.counts:
                for engine in order:
                    path = os.path.join(scratch, "logits.npy")
                    reply = turn(args, engine, folder, threads, path)
                    if engine != READ and "error" not in reply:
                        if not os.path.exists(reference):
                            os.replace(path, reference)
                            path = reference
                        reply["cosine"] = float(np.min(cosines(np.load(reference), np.load(path))))  # NaN stays
                    rows.append({"net": folder, "round": round_, "threads": threads, "engine": engine, **reply})
                    save()
                    if args.verbose or "error" in reply:
                        print(json.dumps(rows[-1]), file=sys.stderr, flush=True)


def medians(args, folder, rows):
    """Returns the table's rows: for each number of threads and engine the medians over the rounds."""
    found = []
    for threads in args.counts:
        here = [row for row in rows if row["net"] == folder and row["threads"] == threads and "error" not in row]

        def median(engine, name):
            return statistics.median(row[name] for row in here if row["engine"] == engine)

        engines = {row["engine"] for row in here}
        for engine in args.chosen:
            if engine not in engines or READ not in engines:
                continue
            mine = [row for row in here if row["engine"] == engine]
            token_ms = median(engine, "token_ms")
            found.append({
                "net": folder, "threads": threads, "engine": engine, "version": mine[0]["version"],
                "decode_per_s": 1e3 / token_ms, "of_read": median(READ, "read_ms") / token_ms,
                "prefill_per_s": 1e3 * args.prompt / median(engine, "prefill_ms"),
                "peak_mib": median(engine, "peak_mib"), "decode_peak_mib": median(engine, "decode_peak_mib"),
                "first_ms": median(engine, "first_ms"),
                "of_file": median(engine, "first_ms") / median(READ, "file_ms"),
                "cosine": float(np.min([row["cosine"] for row in mine])), "rounds": len(mine),
                "noisy": sum(row["foreign"] > quiet.FOREIGN_SHARE for row in mine),
            })  # fmt: skip
    return found


def table(args, folder, found, rows):
    size = os.path.getsize(os.path.join(folder, "llm.mnn.weight"))
    print(f"\n{folder}: {size / 2**20:.1f} MiB of weights", end="")
    if "llama" in args.chosen:
        try:
            path = gguf_of(args, folder)
            print(f"; llama: {os.path.basename(path)}, {os.path.getsize(path) / 2**20:.1f} MiB", end="")
        except RuntimeError as error:
            print(f"; llama: {error}", end="")
    print()
    for threads in args.counts:
        reads = [
            row for row in rows
            if (row["net"], row["threads"], row["engine"]) == (folder, threads, READ) and "error" not in row
        ]  # fmt: skip
        if reads:
            read, file = (statistics.median(row[name] for row in reads) for name in ("read_ms", "file_ms"))
            rate = size / read / 1e6
            print(f"{threads} thread(s): a plain read takes {read:.2f} ms ({rate:.1f} GB/s), the file {file:.1f} ms")
    print(
        f"{'T':>1} {'engine':<9} {'decode/s':>9} {'of read':>8} {'prefill/s':>10} {'MiB':>8} {'first ms':>9} "
        f"{'/ file':>7} {'cosine':>7}  remarks"
    )
    for row in found:
        remark = f"{row['noisy']} noisy of {row['rounds']}" if row["noisy"] else ""
        print(
            f"{row['threads']:>1} {row['engine']:<9} {row['decode_per_s']:9.2f} {row['of_read']:8.0%} "
            f"{row['prefill_per_s']:10.1f} {row['peak_mib']:8.1f} {row['first_ms']:9.1f} {row['of_file']:7.2f} "
            f"{row['cosine']:7.4f}  {remark}"
        )
    faults = {(row["engine"], row["error"]) for row in rows if row["net"] == folder and "error" in row}
    for engine, fault in sorted(faults):
        print(f"{engine}: {fault}")
    for threads in args.counts:
        here = [row for row in found if row["threads"] == threads]
        peers = [row for row in here if not row["engine"].startswith("ours")]
        for mine in here:
            if peers and mine["engine"].startswith("ours"):
                decode, prefill = (
                    mine[name] / max(row[name] for row in peers) for name in ("decode_per_s", "prefill_per_s")
                )
                memory = mine["peak_mib"] / min(row["peak_mib"] for row in peers)
                print(
                    f"{threads} thread(s), {mine['engine']} / best peer: decode {decode:.2f}, prefill {prefill:.2f}, "
                    f"memory {memory:.2f}"
                )
    sys.stdout.flush()


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--library", default="build/release/libmnn_c.so")
    parser.add_argument("--engines", default=",".join(language.ENGINES), help="default: %(default)s")
    parser.add_argument("--python", action="append", default=[], metavar="ENGINE=PATH", help="interpreter of an engine")
    parser.add_argument("--gguf", help="the file for llama, where it is not the only .gguf in the folder")
    parser.add_argument("--threads", default="1,2", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--short", type=int, default=8, help="tokens of the short prompt (default: %(default)s)")
    parser.add_argument("--decode", type=int, default=40, help="tokens one by one behind it (default: %(default)s)")
    parser.add_argument("--prompt", type=int, default=512, help="tokens of the long prompt (default: %(default)s)")
    parser.add_argument("--prefills", type=int, default=2, help="runs of it in a process (default: %(default)s)")
    parser.add_argument(
        "--clock", choices=["wall", "cpu"], default="wall", help="cpu: the time of the process, for one thread"
    )
    parser.add_argument("--json", help="write everything here, after each process")
    parser.add_argument("--verbose", action="store_true", help="print each process's figures, and what runtimes print")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--logits", help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.counts = [int(word) for word in args.threads.split(",")]
    if args.worker:
        args.threads = args.counts[0]
        return args
    args.chosen = args.engines.split(",")
    args.pythons = dict(pair.split("=", 1) for pair in args.python if "=" in pair)
    for name in args.chosen + list(args.pythons):
        if name not in language.ENGINES:
            parser.error(f"there is no engine {name}")
    if len(args.pythons) != len(args.python):
        parser.error("--python wants ENGINE=PATH, once an engine")
    if args.decode <= WARM_TOKENS or min(args.short, args.prompt, args.prefills, args.rounds) < 1:
        parser.error(f"--decode is above {WARM_TOKENS}, the other numbers above 0")
    if args.clock == "cpu" and args.counts != [1]:
        parser.error("--clock cpu is for --threads 1: with more it adds up their times")
    if max(args.counts) > len(os.sched_getaffinity(0)):
        parser.error("more threads than CPUs")
    return args


def main():
    args = parse()
    if args.worker:
        return work(args)
    about = machine.describe()
    print(f"{about['cpu']}; {about['caches']}\n{about['instructions']}; {about['system']}")
    print(
        f"{args.rounds} rounds, {args.short} tokens, {args.decode} one by one; {args.prompt} tokens, "
        f"{args.prefills} times",
        flush=True,
    )
    rows, results = [], []

    def save():
        if args.json:
            with open(args.json + ".part", "w") as file:
                json.dump({"machine": about, "rounds": rows, "medians": results}, file, indent=1)
            os.replace(args.json + ".part", args.json)

    for folder in args.folders:
        measure(args, folder, rows, save)
        found = medians(args, folder, rows)
        results += found
        save()
        table(args, folder, found, rows)
    print()
    for version in sorted({(row["engine"], row["version"], row.get("about", "")) for row in rows if "version" in row}):
        print(": ".join(word for word in version if word))
    return 0


if __name__ == "__main__":
    sys.exit(main())
