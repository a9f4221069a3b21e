#!/usr/bin/env python3
"""Builds examples/zig against the installed library, found through pkg-config, and runs it.

    check_zig.py --source DIR --prefix DIR --work DIR

The compiler comes from PyPI into a virtual environment in the work folder. The first build on a machine takes minutes,
in which the compiler makes its own tools. Exit status: 0 passed, 1 failed, 77 no compiler or no pkg-config.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

COMPILER = "ziglang==0.17.1"


def run(*command, **options):
    return subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)


def skip(why, details=""):
    print(f"skipped: {why}\n{details}")
    sys.exit(77)


def compiler(folder):
    """Returns the Python that has the compiler as a module."""
    python = folder / "bin/python"
    if run(python, "-m", "ziglang", "version").returncode if python.exists() else True:
        shutil.rmtree(folder, ignore_errors=True)
        made = run(sys.executable, "-m", "venv", folder)
        if made.returncode:
            skip("no virtual environment can be made (python3-venv)", made.stdout)
        fetched = run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", COMPILER)
        if fetched.returncode:
            skip(f"pip cannot install {COMPILER}", fetched.stdout)
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name in ("source", "prefix", "work"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    if not shutil.which("pkg-config"):
        skip("pkg-config is not installed")
    libraries = next(arguments.prefix.rglob("libmnn_c.so.0")).parent
    environment = {**os.environ, "PKG_CONFIG_PATH": str(libraries / "pkgconfig"), "LD_LIBRARY_PATH": str(libraries),
                   "ZIG_LOCAL_CACHE_DIR": str(arguments.work / "cache")}
    if not {"HOME", "XDG_CACHE_HOME", "ZIG_GLOBAL_CACHE_DIR"} & environment.keys():
        environment["ZIG_GLOBAL_CACHE_DIR"] = str(arguments.work / "global-cache")

    python = compiler(arguments.work / "venv")
    out = arguments.work / "out"
    ways = [("by pkg-config", [], {})]
    if libraries == arguments.prefix / "lib":  # the folder that -Dmnn searches
        ways.append(("by prefix", [f"-Dmnn={arguments.prefix}"], {"PKG_CONFIG_PATH": ""}))
    for way, options, hidden in ways:
        shutil.rmtree(out, ignore_errors=True)
        built = run(python, "-m", "ziglang", "build", *options, "--prefix", out,
                    cwd=arguments.source / "examples/zig", env={**environment, **hidden})
        if built.returncode:
            print(f"{way}:\n{built.stdout}")
            return 1

    failures = 0
    digits = arguments.source / "examples/digits"
    for parameters, status, words in (([digits, "6"], 0, "image 6: predicted 5, label 5"), ([], 2, "usage:"),
                                      ([digits, "six"], 2, "'six' is no number"), ([digits, "540"], 1, "no image 540"),
                                      ([arguments.work / "nowhere"], 1, "cannot open")):
        done = run(out / "bin/classify_digit", *parameters, env=environment)
        passed = done.returncode == status and words in done.stdout
        failures += not passed
        print(f"{'passed' if passed else 'FAILED'}: {list(map(str, parameters))}: {done.returncode}: {done.stdout}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
