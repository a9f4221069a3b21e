#!/usr/bin/env python3
"""Asks whether the tests see defects: builds copies of the project with one small defect each (mutants) and counts
those that make a test fail.

    mutate.py --seed 1 --count 100 --kernels-at-most 30           # hours; Ctrl-C at any time
    mutate.py --seed 1 --count 100 --kernels-at-most 30 --resume  # continues where it stopped
    mutate.py --seed 1 ... --resume --again survived              # after new tests: those that survived before
    mutate.py --report                                            # the table of what has been run

Which mutants a seed gives depends on each place's own text alone: a change elsewhere in the source leaves most of
them as they were. plan.json says which folders are mutated, how the copy is built and which tests run in which order;
mutations.py what the defects are and what is left out; equivalent.txt lists mutants that are shown to behave like the
original. All work is done on a copy of the tree below build/mutants.
"""

import argparse
import collections
import contextlib
import glob
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import mutations

HERE = pathlib.Path(__file__).resolve().parent
MOST_MEMORY = 24 << 30  # address space of a test: a mutant may ask for any size
MOST_OUTPUT = 64 << 20  # of a file that a test writes
IDLE_SECONDS = 120  # without any processor time a test hangs
COUNTED = ("killed", "survived", "equivalent")


def say(text):
    print(text, flush=True)


def processor_time(pid):
    """Returns the seconds that a process has used with all its threads; None when it has ended."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(command, seconds=None, limits=(), **kwargs):
    """(exit status, output). With `seconds`, the status is None when it has used that much processor time, or none at
    all for IDLE_SECONDS: the clock alone says little on a busy machine. Children are ended with it."""

    def prepare():
        for what, most in ((resource.RLIMIT_CORE, 0), *limits):
            resource.setrlimit(what, (most, most))

    with tempfile.TemporaryFile() as told, subprocess.Popen(
        command, stdout=told, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
        preexec_fn=prepare, **kwargs,
    ) as process:
        used, moved, status = 0, time.monotonic(), None
        try:
            while status is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    status = process.wait(0.5 if seconds else None)
                now = processor_time(process.pid)
                if now is not None and now > used:
                    used, moved = now, time.monotonic()
                if status is None and (used > seconds or time.monotonic() - moved > IDLE_SECONDS):
                    break
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        told.seek(0)
        return status, told.read().decode(errors="replace")


class Copy:
    """The copy of the tree that is mutated, and its build."""

    def __init__(self, source, work, plan, jobs):
        self.source, self.plan, self.jobs = source, plan, jobs
        self.tree, self.build = work / "tree", work / "build"
        self.seconds = {}  # of each step without a mutant
        os.environ["CCACHE_BASEDIR"] = str(work)  # objects that were compiled in another copy are used again

    def update(self):
        """Makes the copy equal to the source; equal files keep their time, so that little is built again."""
        if (self.source / ".git").exists():
            listed = subprocess.run(
                ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                cwd=self.source, check=True, capture_output=True, text=True,
            ).stdout
            names = {name for name in listed.split("\0") if name}
        else:
            names = {str(p.relative_to(self.source)) for p in self.source.rglob("*") if p.is_file()}
        for name in sorted(names):
            source, copy = self.source / name, self.tree / name
            if not source.is_file():
                continue
            content = source.read_bytes()
            if not copy.is_file() or copy.read_bytes() != content:
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(content)
                shutil.copymode(source, copy)
        for path in sorted(self.tree.rglob("*")):
            name = str(path.relative_to(self.tree))
            if path.is_file() and (name not in names or not (self.source / name).is_file()):
                path.unlink()

    def configure(self):
        command = ["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", *self.plan["configure"]]
        for tool in ("mold", "lld", "gold"):
            if shutil.which({"lld": "ld.lld", "gold": "ld.gold"}.get(tool, tool)):
                for kind in ("EXE", "SHARED", "MODULE"):
                    command.append(f"-DCMAKE_{kind}_LINKER_FLAGS=-fuse-ld={tool}")
                break
        if shutil.which("ccache"):
            command += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
        status, output = run(command)
        if status != 0:
            sys.exit(f"mutate.py: the copy cannot be configured:\n{output}")

    def make(self, targets):
        command = ["cmake", "--build", self.build, "-j", str(self.jobs), "--target", *targets]
        return run(command)

    def test(self, step, seconds):
        command = []
        for word in step["command"]:
            path = word.format(build=self.build, tree=self.tree)
            # A filter of test names has asterisks, too.
            command += sorted(glob.glob(path)) if "*" in path and not word.startswith("-") else [path]
        limits = ((resource.RLIMIT_AS, MOST_MEMORY), (resource.RLIMIT_FSIZE, MOST_OUTPUT))
        return run(command, seconds, limits, cwd=self.build)

    def code(self):
        return hashlib.sha256((self.build / self.plan["same_code"]["file"]).read_bytes()).hexdigest()

    def check_original(self):
        targets = [self.plan["same_code"]["target"], *(step["target"] for step in self.plan["steps"])]
        say(f"building {', '.join(dict.fromkeys(targets))} without a mutant")
        status, output = self.make(dict.fromkeys(targets))
        if status != 0:
            sys.exit(f"mutate.py: the project does not build:\n{output[-4000:]}")
        for step in self.plan["steps"]:
            begin = resource.getrusage(resource.RUSAGE_CHILDREN)
            status, output = self.test(step, 600)
            end = resource.getrusage(resource.RUSAGE_CHILDREN)
            if status != 0:
                told = [line for line in output.splitlines() if re.search("(?i)fail|error", line)] or [output[-2000:]]
                sys.exit(f"mutate.py: {step['name']} fails without a mutant ({status}):\n" + "\n".join(told[:20]))
            self.seconds[step["name"]] = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
            say(f"  {step['name']} passes in {self.seconds[step['name']]:.1f} s of processor time")
        self.original = self.code()

    def judge(self, mutation):
        """Tests a mutant. Returns (verdict, the step that decided it, detail)."""
        path = self.tree / mutation.file
        original = path.read_text()
        path.write_text(mutation.apply(original))
        try:
            built = set()
            for target in [self.plan["same_code"]["target"]]:
                status, output = self.make([target])
                if status != 0:
                    first = next((line for line in output.splitlines() if "error" in line), "")
                    return "does not build", "", first[:200]
                built.add(target)
            if self.code() == self.original:
                return "same code", "", ""
            for step in self.plan["steps"]:
                status, output = self.make([step["target"]])
                if status != 0:
                    return "does not build", "", output[-200:]
                # The limit is far above the time of the original.
                status, output = self.test(step, self.plan["patience"] + 10 * self.seconds[step["name"]])
                if status != 0:
                    how = "time" if status is None else f"signal {-status}" if status < 0 else f"exit {status}"
                    told = [line for line in output.splitlines() if line.strip()]
                    return "killed", step["name"], how + (": " + told[-1][:160] if told else "")
            return "survived", "", ""
        finally:
            path.write_text(original)


def read_equivalent(path):
    """Returns {key: reason}. Blocks have four parts, a line each: file, text of the line, change, reason (may be
    long)."""
    reasons = {}
    block = []
    for line in [*(path.read_text().splitlines() if path.exists() else []), ""]:
        if line.startswith("#"):
            continue
        if line.strip():
            block.append(line.strip())
        elif block:
            if len(block) < 4:
                sys.exit(f"mutate.py: {path}: a block has file, line, change and reason: {block}")
            reasons["|".join(block[:3])] = " ".join(block[3:])
            block = []
    return reasons


def select(tree, plan, seed, all_of_a_line=False):
    """Returns all mutants of the tree in the order of the seed, one per line of source."""
    found = []
    for folder in plan["folders"]:
        for path in sorted((tree / folder).rglob("*")):
            if path.suffix in (".cpp", ".h"):
                found += mutations.mutations_of(str(path.relative_to(tree)), path.read_text())
    found.sort(key=lambda m: hashlib.sha256(f"{seed}|{m.key}".encode()).digest())
    lines = set()
    for mutation in found:
        if all_of_a_line or (mutation.file, mutation.line) not in lines:
            lines.add((mutation.file, mutation.line))
            yield mutation


def read_results(path):
    results = {}
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                result = json.loads(line)
            except json.JSONDecodeError:
                continue  # the last line of a run that was interrupted
            results[result["id"]] = result
    return results


def report(chosen, least):
    say("")
    for result in chosen:
        how = {"killed": f"by {result['by']}", "equivalent": result["detail"]}.get(result["verdict"], "")
        say(f"{result['verdict']:10} {result['file']}:{result['line']}: {result['change']}  {how}")
        if result["verdict"] == "survived":
            say(f"           {result['text']}")
    counts = collections.Counter(result["verdict"] for result in chosen)
    rest = len(chosen) - counts["equivalent"]
    share = 100 * counts["killed"] / rest if rest else 100
    by = collections.Counter(result["by"] for result in chosen if result["verdict"] == "killed")
    kinds = collections.Counter(result["kind"] for result in chosen)
    say(f"\n{len(chosen)} mutants: {counts['killed']} killed, {counts['survived']} survived, "
        f"{counts['equivalent']} equivalent; {share:.1f} percent of those not equivalent are killed")
    say("killed by: " + ", ".join(f"{name} {n}" for name, n in by.most_common()))
    say("kinds: " + ", ".join(f"{name} {n}" for name, n in kinds.most_common()))
    return share >= least


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100, help="mutants that build and differ from the original")
    parser.add_argument("--kernels-at-most", type=int, default=30)
    parser.add_argument("--source", type=pathlib.Path, default=HERE.parent.parent)
    parser.add_argument("--work", type=pathlib.Path, help="folder of copy, build and results (build/mutants)")
    parser.add_argument("--plan", type=pathlib.Path, default=HERE / "plan.json")
    parser.add_argument("--equivalent", type=pathlib.Path, default=HERE / "equivalent.txt")
    parser.add_argument("--jobs", type=int, default=1, help="of the build")
    parser.add_argument("--resume", action="store_true", help="keep what has been found out")
    parser.add_argument("--again", choices=COUNTED, help="judge those with this verdict again")
    parser.add_argument("--all-of-a-line", action="store_true", help="more than one mutant of a line")
    parser.add_argument("--list", action="store_true", help="only list the first --count mutants of the seed")
    parser.add_argument("--show", metavar="ID", help="print one mutant's change")
    parser.add_argument("--report", action="store_true", help="run nothing, print what is known")
    parser.add_argument("--least", type=float, default=85, help="share in percent below which it fails")
    arguments = parser.parse_args()

    source = arguments.source.resolve()
    work = (arguments.work or source / "build" / "mutants").resolve()
    plan = json.loads(arguments.plan.read_text())
    if arguments.list or arguments.show:
        for i, mutation in enumerate(select(source, plan, arguments.seed, arguments.all_of_a_line)):
            if arguments.show and mutation.id.startswith(arguments.show):
                say(f"{mutation.file}:{mutation.line}: {mutation.change}\n- {mutation.text}\n"
                    f"+ {mutation.replacement or '(nothing)'}")
            elif arguments.list and i < arguments.count:
                say(f"{mutation.id} {mutation.file}:{mutation.line}: {mutation.change}")
        return 0

    work.mkdir(parents=True, exist_ok=True)
    path = work / "results.jsonl"
    if path.exists() and not (arguments.resume or arguments.report):
        path.unlink()
    known = read_results(path)
    if arguments.again:
        known = {id: result for id, result in known.items() if result["verdict"] != arguments.again}
    equivalent = read_equivalent(arguments.equivalent)
    copy = Copy(source, work, plan, arguments.jobs)
    if not arguments.report:
        copy.update()
        copy.configure()
        copy.check_original()

    chosen, kernels = [], 0
    for mutation in select(source if arguments.report else copy.tree, plan, arguments.seed, arguments.all_of_a_line):
        if len(chosen) == arguments.count:
            break
        kernel = mutation.file.startswith(plan["kernels"])
        if kernel and kernels == arguments.kernels_at_most:
            continue
        about = {"id": mutation.id, "file": mutation.file, "line": mutation.line, "text": mutation.text,
                 "kind": mutation.kind, "change": mutation.change}
        result = known.get(mutation.id)
        if mutation.key in equivalent:
            result = {**about, "verdict": "equivalent", "by": "", "detail": equivalent[mutation.key]}
        elif result is None and arguments.report:
            continue
        elif result is None:
            begin = time.monotonic()
            verdict, by, detail = copy.judge(mutation)
            result = {**about, "verdict": verdict, "by": by, "detail": detail,
                      "seconds": round(time.monotonic() - begin, 1)}
            with path.open("a") as file:
                file.write(json.dumps(result) + "\n")
            say(f"{len(chosen) + (verdict in COUNTED):4} {verdict:14} {mutation.file}:{mutation.line}: "
                f"{mutation.change}  {by} {detail[:80]} ({result['seconds']} s)")
        if result["verdict"] in COUNTED:
            chosen.append({**result, "line": mutation.line})
            kernels += kernel
    return 0 if report(chosen, arguments.least) else 1


if __name__ == "__main__":
    sys.exit(main())
