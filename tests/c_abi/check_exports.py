#!/usr/bin/env python3
"""Compares what libmnn_c.so exports with its header, the committed list and the bindings, and looks at what it needs.

    check_exports.py [--rust FILE|DIR] [--go DIR] [--without-cxx-runtime] [--node NAME] libmnn_c.so mnn_c.h [exports.txt]

The library defines exactly the header's functions, all at one version node (MNN_C_0, or NAME), and needs no library beyond the
C and C++ runtime (--without-cxx-runtime: beyond the C runtime). The Rust source FILE declares exactly these functions,
the Go package in DIR uses each of them; what is not there is passed over. Differences are printed; the exit
status is 1 then.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

C_RUNTIME = r"libc|libm|ld-linux[-\w]*"
CXX_RUNTIME = r"libstdc\+\+|libgcc_s"
# Go copies the sentence of an error (its goroutines change threads) and tensors (a slice would outlive its tensor). It
# runs and resizes with options, and gives each call a token of its own, which is never reset.
GO_LEAVES_OUT = {"mnn_last_error", "mnn_tensor_map", "mnn_tensor_unmap", "mnn_session_run", "mnn_session_resize",
                 "mnn_cancel_reset"}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout


def exported(library, wanted):
    """Names and problems: every symbol has to carry the version node, which is a symbol itself."""
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
    """A source in C, Rust or Go without its comments."""
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


def declared_in_rust(path):
    """Of a file, or of all in a folder."""
    sources = sorted(path.glob("*.rs")) if path.is_dir() else [path]
    return {name for each in sources for name in re.findall(r"\bpub (?:unsafe )?fn (mnn_\w+)\s*\(", code(each))}


def used_in_go(folder):
    """The interface's names, without the binding's own (mnn_go_...): in Go as C.name, in its C sources all."""
    names = set()
    for pattern, name in (("*.go", r"\bC\.(mnn_\w+)"), ("*.[ch]", r"\b(mnn_\w+)")):
        for path in folder.glob(pattern):
            if not path.name.endswith("_test.go"):
                names.update(re.findall(name, code(path)))
    return {name for name in names if not name.startswith("mnn_go_")}


def needed(library):
    return re.findall(r"\(NEEDED\)[^\[]*\[([^\]]+)\]", output("readelf", "-d", "-W", library))


def compare(problems, one, one_name, other, other_name):
    problems += [f"{name} is in {one_name} and not in {other_name}" for name in sorted(one - other)]
    problems += [f"{name} is in {other_name} and not in {one_name}" for name in sorted(other - one)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rust", type=pathlib.Path, help="the source with the declarations")
    parser.add_argument("--go", type=pathlib.Path, help="folder of the package")
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
    seen = []
    if arguments.rust and arguments.rust.exists():
        compare(problems, functions, "the header", declared_in_rust(arguments.rust), "the Rust crate")
        seen.append("Rust")
    if arguments.go and arguments.go.is_dir():
        others = set(re.findall(r"\bmnn_\w+", code(arguments.header))) | {pathlib.Path(arguments.header).stem}
        names = used_in_go(arguments.go)
        wanted = functions - GO_LEAVES_OUT
        compare(problems, wanted, "the header", (names & wanted) | (names - functions - others), "the Go package")
        seen.append("Go")
    libraries = needed(arguments.library)
    if not libraries:
        problems.append("the library needs nothing: readelf's answer was not understood")
    runtime = C_RUNTIME if arguments.without_cxx_runtime else f"{C_RUNTIME}|{CXX_RUNTIME}"
    problems += [f"the library needs {name}" for name in libraries
                 if not re.fullmatch(rf"({runtime}|{arguments.needs})\.so(\.\d+)*", name)]
    for problem in problems:
        print(problem)
    if not problems:
        print(f"{len(symbols)} functions at {arguments.node}; needs {', '.join(libraries)}; bindings: {', '.join(seen) or '-'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
