#!/usr/bin/env python3
"""Runs every case with 1 and with 2 threads and compares the output files byte by byte.

usage: bit_identical.py [--emulator COMMAND] MNN_TOOL CASE_DIR...

COMMAND runs a tool of another machine.
"""
import argparse
import filecmp
import json
import os
import shlex
import subprocess
import sys
import tempfile


def run(tool, case, threads, output):
    with open(os.path.join(case, "case.json"), encoding="utf-8") as file:
        description = json.load(file)
    command = [*tool, "run", os.path.join(case, description["model"]), "--threads", str(threads), "--output", output]
    for entry in description["inputs"]:
        command += ["--input", entry["name"] + "=" + os.path.join(case, entry["file"])]
        command += ["--shape", entry["name"] + "=" + "x".join(map(str, entry["shape"]))] if entry["shape"] else []
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--emulator", default="", type=shlex.split)
    parser.add_argument("tool")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    tool, cases = [*arguments.emulator, arguments.tool], arguments.cases
    passed = failed = 0
    for case in cases:
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
            try:
                run(tool, case, 1, one)
                run(tool, case, 2, two)
            except (subprocess.CalledProcessError, OSError) as error:
                failed += 1
                print(f"{os.path.basename(case)}: {error}")
                continue
            names = sorted(os.listdir(one))
            _, mismatch, errors = filecmp.cmpfiles(one, two, names, shallow=False)
            if mismatch or errors or not names:
                failed += 1
                print(f"{os.path.basename(case)}: differs between 1 and 2 threads: {mismatch + errors or 'no output'}")
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
