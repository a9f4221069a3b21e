#!/usr/bin/env python3
"""Writes the parts of the bindings that repeat the headers in include/, the only source of the interface.

    bindings/generate.py [--check] [--include FOLDER] [--output FOLDER]

Each file that it writes says so in its first line. --check compares the files with what would be written and writes
nothing: exit status 1 where one is stale. --output writes below another folder than the repository. Needs pycparser
(python3-pycparser of Debian), and exits with 77 without it.
"""

import argparse
import os
import pathlib
import sys
from typing import Dict

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ("mnn_c.h", "mnn_c_image.h", "mnn_c_onnx.h")
SYSTEM = "/usr/bin/python3"

sys.dont_write_bytecode = True
try:
    from generator import faults, go, header, infos, lists, python, rust, rust_enums
except ModuleNotFoundError as error:
    if error.name != "pycparser":
        raise
    # The distribution's Python is used where another one, without pycparser, precedes it.
    if os.path.exists(SYSTEM) and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM):
        os.execv(SYSTEM, [SYSTEM, *sys.argv])
    print("generate.py: there is no pycparser: install python3-pycparser")
    sys.exit(77)


def generated(include: pathlib.Path) -> Dict[str, str]:
    """Returns {path in the repository: text} of all files."""
    headers = [header.read(name, (include / name).read_text(encoding="utf-8")) for name in HEADERS]
    found: Dict[str, str] = {}
    for language in (rust, rust_enums, python, go, infos, lists, faults):
        found.update(language.files(headers))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare the files")
    parser.add_argument("--include", type=pathlib.Path, default=ROOT / "include", help="the folder of the headers")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT, help="the folder below which the files are written or compared")
    arguments = parser.parse_args()
    try:
        files = generated(arguments.include)
    except header.HeaderError as error:
        sys.exit(f"generate.py: {error}")
    stale = []
    for name, text in sorted(files.items()):
        path = arguments.output / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not arguments.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if arguments.check and stale:
        sys.exit("These files differ from what the headers in include say:\n    " + "\n    ".join(stale) +
                 "\nbindings/generate.py writes them anew.")
    print(f"{len(files)} files, {sum(text.count(chr(10)) for text in files.values())} lines" +
          ("" if arguments.check else f", of which {len(stale)} changed"))


if __name__ == "__main__":
    main()
