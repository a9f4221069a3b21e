#!/usr/bin/env python3
"""Runs every case with the tools of two builds and compares the output files byte by byte.

usage: same_bits.py [--isa ISA] [--threads N] [--differ FILE] TOOL OTHER_TOOL CASE_DIR...

A tool may be a command with an emulator before it. FILE lists the cases that are allowed to differ, a line each; a listed case
that does not differ is a failure, too.
"""
import argparse
import concurrent.futures
import filecmp
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import bit_identical


def differences(arguments, case):
    """Returns the names of the outputs that differ; None when a case has no output, the error when a tool fails."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = [os.path.join(folder, name) for name in ("one", "other")]
        inputs = os.path.join(folder, "inputs")
        os.mkdir(inputs)
        for tool, output in zip((arguments.tool, arguments.other), outputs):
            try:
                bit_identical.run(tool, case, inputs, arguments.threads, output, ["--isa", arguments.isa] if arguments.isa else [])
            except subprocess.CalledProcessError as error:
                return error
        files = sorted(path.relative_to(outputs[0]) for path in pathlib.Path(outputs[0]).rglob("*.npy"))
        if not files:
            return None
        return [str(file) for file in files if not filecmp.cmp(os.path.join(outputs[0], file), os.path.join(outputs[1], file), shallow=False)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--isa", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--differ")
    parser.add_argument("tool", type=shlex.split)
    parser.add_argument("other", type=shlex.split)
    parser.add_argument("cases", nargs="+")
    arguments = parser.parse_args()
    known = set(pathlib.Path(arguments.differ).read_text().split("\n")) if arguments.differ else set()
    cases = [case.rstrip("/") for case in arguments.cases]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda case: differences(arguments, case), cases))
    wrong = same = 0
    for case, differ in zip(cases, found):
        name = os.path.basename(case)
        same += differ == []
        if differ is None:
            print(f"{name}: no outputs")
        elif isinstance(differ, subprocess.CalledProcessError):
            print(f"{name}: {' '.join(differ.cmd)} ended with {differ.returncode}")
        elif bool(differ) == (name in known):
            continue
        else:
            print(f"{name}: {'differs in ' + ', '.join(differ) if differ else 'is listed and does not differ'}")
        wrong += 1
    print(f"{same} of {len(cases)} cases have the same bits, {len(known - {''})} are listed")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
