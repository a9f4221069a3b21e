#!/usr/bin/env python3
"""Checks that kernels are compiled for the instruction sets of dispatch.h alone: each source that Highway compiles once for
every instruction set includes dispatch.h first, which leaves out the others.

    targets.py SOURCE
"""
import pathlib
import re
import sys

DISPATCH = "backends/cpu/kernels/dispatch.h"


def main():
    root = pathlib.Path(sys.argv[1])
    wrong, sources = [], 0
    for path in sorted((root / "backends").rglob("*.cpp")):
        headers = re.findall(r'^#include "([^"]+)"', path.read_text(), flags=re.M)
        if "hwy/foreach_target.h" not in headers:
            continue
        sources += 1
        if DISPATCH not in headers[:headers.index("hwy/foreach_target.h")]:
            wrong.append(f"{path.relative_to(root).as_posix()} includes hwy/foreach_target.h without {DISPATCH} before it")
    if sources < 20:
        wrong.append(f"only {sources} sources of kernels were found")
    if not wrong:
        print(f"{sources} sources of kernels leave out the same instruction sets")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
