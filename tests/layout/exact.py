#!/usr/bin/env python3
"""Every source that uses the roundings of int8 results is compiled without fused multiply-adds, which would change them.

    exact.py SOURCE BUILD
"""
import json
import pathlib
import sys

import arrows

ROUNDINGS = "backends/cpu/kernels/int8/int8_math-inl.h"
FLAG = "-ffp-contract=off"
FEWEST = 6


def main():
    root, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    used = arrows.includes(root, ["impl", "backends"], {".h", ".cpp"})
    exact = [name for name in used if name.endswith(".cpp") and ROUNDINGS in arrows.reachable(used, name)]
    if len(exact) < FEWEST:
        sys.exit(f"only {len(exact)} sources include {ROUNDINGS}, there should be {FEWEST} at least")
    commands = {pathlib.Path(entry["file"]).resolve(): entry["command"] for entry in json.loads((build / "compile_commands.json").read_text())}
    wrong = [f"{name} includes {ROUNDINGS}, but is compiled without {FLAG}: MNN_C_EXACT_SOURCES of CMakeLists.txt finds such files by their names"
             for name in exact if FLAG not in commands[root / name].split()]
    print(f"{len(exact)} sources round as written")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
