#!/usr/bin/env python3
"""Writes the table of docs/convert.md from the library's table, or checks that it is up to date.

usage: convert_page.py --table PROGRAM --page PAGE.md [--write]

PROGRAM is mnn_c_onnx_operator_table. Without --write the page must be what would be written: the exit code is 1 where it is not.
The text in front of the heading "Operators" is written by hand.
"""
import argparse
import json
import pathlib
import subprocess
import sys

HEADING = "## Operators\n"


def cell(text):
    return text.replace("|", "\\|")


def table(entries):
    lines = [HEADING, f"Generated from the table of `libmnn_c_onnx` ({len(entries)} entries) by `tests/onnx/convert_page.py`; a test compares. "
             "Opsets are those whose definition is read, from the first one on. A name in front of a point is the domain.\n",
             "| ONNX | from opset | writes | refused, or different |", "| --- | --- | --- | --- |"]
    for entry in sorted(entries, key=lambda one: (one["domain"], one["name"].lower())):
        name = (entry["domain"] + "." if entry["domain"] else "") + entry["name"]
        lines.append(f"| {cell(name)} | {entry['first']} | {cell(entry['writes'])} | {cell(entry['limits'])} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", required=True)
    parser.add_argument("--page", required=True)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    done = subprocess.run([given.table], capture_output=True, text=True, check=True)
    entries = [json.loads(line) for line in done.stdout.splitlines()]
    if len(entries) < 150:
        sys.exit(f"the table has only {len(entries)} entries")
    page = pathlib.Path(given.page)
    text = page.read_text()
    if HEADING not in text:
        sys.exit(f"{page} has no heading '{HEADING.strip()}'")
    wanted = text[:text.index(HEADING)] + table(entries)
    if given.write:
        page.write_text(wanted)
    elif text != wanted:
        sys.exit(f"{page} is not what the table says: run tests/onnx/convert_page.py with --write")


if __name__ == "__main__":
    main()
