#!/usr/bin/env python3
"""The README.md of a folder names each source there, and each source in its table exists.

    maps.py REPOSITORY

A README names a source with or without its ending, so that a header and its source are one entry, or by a pattern such
as `conv_*`. One that has an entry `<family>` describes files that `families.def` lists. The README of a folder
may also name files of folders below it.
"""
import fnmatch
import pathlib
import re
import sys

ROOMS = ("impl", "backends", "onnx", "image", "tools", "cmake", "bindings/rust/mnn-c/src")
SOURCES = {".h", ".cpp", ".c", ".py", ".rs", ".cmake", ".js"}
FEWEST = 30  # folders


def names(text):
    """The names and patterns in a README, without folders; braces stand for each of their parts."""
    for word in re.findall(r"[\w.*/{},-]+", text):
        parts = re.fullmatch(r"(.*)\{(.*)\}(.*)", word)
        for one in [parts[1] + part + parts[3] for part in parts[2].split(",")] if parts else [word]:
            yield one.rpartition("/")[2].strip(".,")


def is_named(source, listed):
    own = {source.name, source.stem, source.stem.removesuffix("-inl")}
    return any(one in own or pathlib.PurePath(one).stem in own or
               ("*" in one and len(one) > 2 and any(fnmatch.fnmatch(name, one) for name in own)) for one in listed)


def findings(folder):
    text = (folder / "README.md").read_text()
    sources = [path for path in sorted(folder.iterdir()) if path.suffix in SOURCES and path.is_file()]
    if "<family>" not in text:
        listed = set(names(text))
        for source in sources:
            if not is_named(source, listed):
                yield f"README.md does not name {source.name}"
    there = {path.name for path in folder.rglob("*")}
    # The first cell of a row of a table has names of this folder and of those below.
    for cell in re.findall(r"^\| (`[^|]*`) \|", text, re.MULTILINE):
        for name in re.findall(r"`([\w-]+\.(?:h|cpp|c|py|cmake|js))`", cell):
            if name not in there:
                yield f"README.md names {name}, which is not there"


def main():
    root = pathlib.Path(sys.argv[1])
    folders = sorted(readme.parent for room in ROOMS for readme in (root / room).rglob("README.md"))
    wrong = [f"{folder.relative_to(root).as_posix()}: {one}" for folder in folders for one in findings(folder)]
    if len(folders) < FEWEST:
        wrong.append(f"{len(folders)} folders with a README.md were found, {FEWEST} are expected")
    print("\n".join(wrong) or f"{len(folders)} folders are described")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
