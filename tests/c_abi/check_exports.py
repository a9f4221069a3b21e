#!/usr/bin/env python3
"""Compares what libmnn_c.so exports with its header and the committed list, and looks at what it needs.

    check_exports.py [--without-cxx-runtime] [--node NAME] [--needs NAME] libmnn_c.so mnn_c.h [exports.txt]

The library defines exactly the header's functions, all at one version node (MNN_C_0, or the NAME of --node). It needs
no library beyond the C and C++ runtime (--without-cxx-runtime: the C runtime) and the one that --needs names.
Differences are printed; the exit status is 1 then.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

C_RUNTIME = r"libc|libm|ld-linux[-\w]*"
CXX_RUNTIME = r"libstdc\+\+|libgcc_s"


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def exported(library, wanted):
    """Returns names and problems: every symbol must carry the version node, which is a symbol itself."""
    names, problems, node = set(), [], False
    for line in output("nm", "-D", "--defined-only", "--with-symbol-versions", library).splitlines():
        kind, symbol = line.split()[-2:]
        name, _, version = symbol.partition("@")
        if name == wanted and kind == "A":
            node = True
        elif kind != "T":
            problems.append(f"the library exports {symbol}, of type {kind}: only functions are wanted")
        else:
            names.add(name)
            if version.lstrip("@") != wanted:
                problems.append(f"the library exports {symbol}, which is not at {wanted}")
    if not node:
        problems.append(f"the library has no version node {wanted}")
    return names, problems


def code(path):
    """Returns a source without its comments."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", pathlib.Path(path).read_text(encoding="utf-8"), flags=re.S)


def declared(header):
    text = code(header)
    marked = set(re.findall(r"MNN_C_API\b[^;{#]*?\b(mnn_\w+)\s*\(", text))
    prototypes = set(re.findall(r"\b(mnn_\w+)\s*\([^()]*\)\s*;", text))
    return marked, [f"the header declares {name} without MNN_C_API" for name in sorted(prototypes - marked)]


def listed(path, node):
    lines = [line.strip() for line in open(path, encoding="utf-8")]
    names = [line for line in lines if line and not line.startswith("#")]
    problems = [] if names == sorted(set(names)) else [f"{path} is not sorted, or names something twice"]
    if node not in names:
        problems.append(f"{path} does not name the version node {node}")
    return set(names) - {node}, problems


def needed(library):
    return re.findall(r"\(NEEDED\)[^\[]*\[([^\]]+)\]", output("readelf", "-d", "-W", library))


def compare(problems, one, one_name, other, other_name):
    problems += [f"{name} is in {one_name} and not in {other_name}" for name in sorted(one - other)]
    problems += [f"{name} is in {other_name} and not in {one_name}" for name in sorted(other - one)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--without-cxx-runtime", action="store_true", help="libstdc++ and libgcc are inside")
    parser.add_argument("--node", default="MNN_C_0", help="the version node of the library")
    parser.add_argument("--needs", default="(?!)", metavar="NAME", help="a library of the project that this one may need")
    parser.add_argument("library")
    parser.add_argument("header")
    parser.add_argument("exports", nargs="?")
    arguments = parser.parse_args()

    symbols, problems = exported(arguments.library, arguments.node)
    functions, more = declared(arguments.header)
    problems += more
    if not functions:
        problems.append("the header declares nothing")
    compare(problems, functions, "the header", symbols, "the library")
    if arguments.exports:
        names, more = listed(arguments.exports, arguments.node)
        problems += more
        compare(problems, functions, "the header", names, "the list")
    libraries = needed(arguments.library)
    if not libraries:
        problems.append("the library needs nothing: readelf's answer was not understood")
    runtime = C_RUNTIME if arguments.without_cxx_runtime else f"{C_RUNTIME}|{CXX_RUNTIME}"
    problems += [f"the library needs {name}" for name in libraries
                 if not re.fullmatch(rf"({runtime}|{arguments.needs})\.so(\.\d+)*", name)]
    for problem in problems:
        print(problem)
    if not problems:
        print(f"{len(symbols)} functions at {arguments.node}; needs {', '.join(libraries)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
