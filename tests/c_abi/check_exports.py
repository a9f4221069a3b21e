#!/usr/bin/env python3
"""Compares what libmnn_c.so exports with its header and with the committed list, and looks at what it needs.

    check_exports.py libmnn_c.so mnn_c.h [exports.txt]

The library defines exactly the header's functions, all at the version node MNN_C_0, and needs no library beyond the
C and C++ runtime. Differences are printed; the exit status is 1 then.
"""
import os
import re
import subprocess
import sys

NODE = "MNN_C_0"
ALLOWED = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|ld-linux[-\w]*)\.so(\.\d+)*")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def exported(library):
    """Names and problems: every symbol has to carry the version node, which is a symbol itself."""
    names, problems, node = set(), [], False
    for line in output("nm", "-D", "--defined-only", "--with-symbol-versions", library).splitlines():
        kind, symbol = line.split()[-2:]
        name, _, version = symbol.partition("@")
        if name == NODE and kind == "A":
            node = True
        elif kind != "T":
            problems.append(f"the library exports {symbol}, of type {kind}: only functions are wanted")
        else:
            names.add(name)
            if version.lstrip("@") != NODE:
                problems.append(f"the library exports {symbol}, which is not at {NODE}")
    if not node:
        problems.append(f"the library has no version node {NODE}")
    return names, problems


def declared(header):
    text = re.sub(r"/\*.*?\*/", "", open(header, encoding="utf-8").read(), flags=re.S)
    marked = set(re.findall(r"MNN_C_API\b[^;{#]*?\b(mnn_\w+)\s*\(", text))
    prototypes = set(re.findall(r"\b(mnn_\w+)\s*\([^()]*\)\s*;", text))
    return marked, [f"the header declares {name} without MNN_C_API" for name in sorted(prototypes - marked)]


def listed(path):
    lines = [line.strip() for line in open(path, encoding="utf-8")]
    names = [line for line in lines if line and not line.startswith("#")]
    problems = [] if names == sorted(set(names)) else [f"{path} is not sorted, or names something twice"]
    if NODE not in names:
        problems.append(f"{path} does not name the version node {NODE}")
    return set(names) - {NODE}, problems


def needed(library):
    return re.findall(r"\(NEEDED\)[^\[]*\[([^\]]+)\]", output("readelf", "-d", "-W", library))


def compare(problems, one, one_name, other, other_name):
    problems += [f"{name} is in {one_name} and not in {other_name}" for name in sorted(one - other)]
    problems += [f"{name} is in {other_name} and not in {one_name}" for name in sorted(other - one)]


def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    library, header = arguments[:2]
    symbols, problems = exported(library)
    functions, more = declared(header)
    problems += more
    if not functions:
        problems.append("the header declares nothing")
    compare(problems, functions, "the header", symbols, "the library")
    if len(arguments) == 3:
        names, more = listed(arguments[2])
        problems += more
        compare(problems, functions, "the header", names, "the list")
    libraries = needed(library)
    if not libraries:
        problems.append("the library needs nothing: readelf's answer was not understood")
    problems += [f"the library needs {name}" for name in libraries if not ALLOWED.fullmatch(name)]
    for problem in problems:
        print(problem)
    if not problems:
        print(f"{len(symbols)} functions at {NODE}; needs {', '.join(libraries)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
