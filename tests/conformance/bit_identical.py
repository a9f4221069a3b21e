#!/usr/bin/env python3
"""Runs every case with 1 and with 2 threads and compares the output files byte by byte.

usage: bit_identical.py [--emulator COMMAND] MNN_TOOL CASE_DIR...

COMMAND runs a tool of another machine.
"""
import argparse
import filecmp
import os
import shlex
import subprocess
import sys
import tempfile
import zipfile

import case_files


def run(tool, case, inputs, threads, output, further=()):
    """inputs: a folder for the files of the inputs."""
    description = case_files.describe(case)
    command = [*tool, "run", os.path.join(case, description["model"]), "--threads", str(threads), "--output", output, *further]
    for number, entry in enumerate(description["inputs"]):
        path = os.path.join(inputs, f"{number}.npy")
        with open(path, "wb") as file:
            file.write(case_files.read(case, entry["file"]))
        command += ["--input", entry["name"] + "=" + path]
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
        with tempfile.TemporaryDirectory() as folder:
            inputs, one, two = (os.path.join(folder, name) for name in ("inputs", "one", "two"))
            os.mkdir(inputs)
            try:
                run(tool, case, inputs, 1, one)
                run(tool, case, inputs, 2, two)
            except (subprocess.CalledProcessError, OSError, zipfile.BadZipFile, KeyError) as error:
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
