#!/usr/bin/env python3
"""Writes docs/operators.md from the library's tables and docs/operators_notes.json, or checks that it is up to date.

usage: operators_page.py --table PROGRAM --cases FOLDER --notes NOTES.json --page PAGE.md [--write]

PROGRAM is mnn_c_operator_table. Without --write the page must be what would be written: the exit code is 1 where it is not.
"""
import argparse
import json
import subprocess
import sys

INTRO = """# Operators

The operator types of the `.mnn` format, and how this library runs them. Generated from the library's tables, the conformance
cases and `operators_notes.json` by `tests/docs/operators_page.py`; a test compares.

- **CPU**: `kernel`: an execution of its own; `commands`: it becomes Rasters (data movement) or other operators when a session
  plans; `values`: its result is known while planning; `session`: control flow, which the session runs.
- **int8**: the kernel also runs over quantised tensors where the model gives scales for them. Operators that become Rasters
  move bytes of any type.
- **Vulkan**: it has a GPU kernel, or becomes Rasters and operators that have one (`commands`). Otherwise the CPU takes the
  operator, and the session copies its tensors. What is behind operators whose contents decide the extents of their output
  can only be planned when the host knows how many results there are, so it waits for the device at that place in any case.
  Where, Unique, SetDiff1D and DetectionOutput run on the CPU for that reason: the shape rule has the result then.
  NonMaxSuppressionV2 searches on the GPU, and keeps the boxes that the CPU keeps, bit for bit; the host reads the numbers of
  those, and makes the rows of the output. The CPU searches among more than 131,072 boxes, in more than 16,384 pictures times
  classes, and where the boxes times the most that a class may keep are more than 2^30. What is kept is found in several
  dispatches, each of which goes through 60,000 rounds of loops at most: drivers stop longer ones.
  Under Precision Low a GPU stores floats in 16 bits, but for coordinates and what is put in order. 32 bits have: what
  GridSample, ROIAlign, ROIPooling and CropAndResize read as places and boxes; the boxes and scores of NonMaxSuppressionV2
  and its limits, those of DetectionPostProcess, DetectionOutput and Proposal; what TopKV2 sorts; floats that become integers;
  the results of Range; and the movement and arithmetic that lead to them, also into and out of the bodies of If and While
  (`impl/ops/coordinates.cpp`). Scores that come out of a convolution nearer to one another than its 16 bits change places.
  Under Memory Low convolutions that are products keep codes of 8 and 4 bits. Those of depthwise convolutions become floats,
  because there are few; so do those of transposed ones, where the file gives a scale to neighbours in an order that begins
  with the input channels, and weights with a scale for pieces that are no whole blocks of four input channels.
- **Cases**: conformance cases whose model contains the operator.

An operator that is not run stops no model from loading: `mnn info` lists it, and creating a session fails with its name unless
no wanted output needs it. The same holds for forms of an operator that are not supported. A host may run any of these types by
code of its own (`mnn_interpreter_add_operator()`).

A static model (`mnnconvert --saveStaticModel`, usage INFERENCE_STATIC) holds what the converter made of each operator for one
shape of the inputs, which cannot be changed. It gives the numbers of its ordinary form, in the extents that the file describes;
where a search finds less than there is room for (NonMaxSuppressionV2), the rest is -1. The last table says what is lost on
the way. `tests/conformance/static_forms.py` compares both forms of nets.
"""


def ask(program, cases):
    done = subprocess.run([program, cases], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{program}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def cell(text):
    return text.replace("|", "\\|")


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return lines + ["| " + " | ".join(cell(str(c)) for c in row) + " |" for row in rows]


def vulkan(row):
    if row["vulkan"]:
        return "kernel"
    return row["cpu"] if row["cpu"] in ("commands", "values", "session") else "CPU"


def page(rows, notes):
    operators = notes["operators"]
    unknown = set(operators) - {row["name"] for row in rows}
    if unknown:
        sys.exit(f"the notes name operators that the format does not have: {', '.join(sorted(unknown))}")
    runs = [row for row in rows if row["cpu"] != "none"]
    refused = [row for row in rows if row["cpu"] == "none"]
    note = lambda row, key: operators.get(row["name"], {}).get(key, "")
    text = [INTRO, f"## {len(runs)} types that run\n"]
    text += table(["No", "Operator", "Written by", "CPU", "int8", "Vulkan", "Cases", "Limits"],
                  [[r["number"], r["name"], note(r, "writers"), r["cpu"], "yes" if r["int8"] else "", vulkan(r), r["cases"],
                    note(r, "limits")] for r in runs])
    text += [f"\n## {len(refused)} types that are refused\n"]
    text += table(["No", "Operator", "Written by", "Why"],
                  [[r["number"], r["name"], note(r, "writers"), note(r, "refused") or "Not implemented yet."] for r in refused])
    text += ["\n## Where the source framework is right\n",
             "The official runtime and the framework that a model comes from differ here, and the file holds what is needed. This",
             "library computes what the framework means.\n"]
    text += table(["Operator", "Form", "This library", "The official runtime (3.6.1)", "Case"],
                  [[d["operator"], d["form"], d["here"], d["official"], d.get("case", "")] for d in notes["decisions"]])
    text += ["\n## What the official converter loses\n",
             "These are lost before any runtime sees the file (official converter 3.6.1): no runtime can give the framework's result.\n"]
    text += table(["From", "Form", "What the file holds"],
                  [[d["source"], d["form"], d["file"]] for d in notes["losses"]])
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--table", "--cases", "--notes", "--page"):
        parser.add_argument(name, required=True)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with open(options.notes, encoding="utf-8") as file:
        wanted = page(ask(options.table, options.cases), json.load(file))
    if options.write:
        with open(options.page, "w", encoding="utf-8") as file:
            file.write(wanted)
        return
    with open(options.page, encoding="utf-8") as file:
        if file.read() != wanted:
            sys.exit(f"{options.page} is not what the tables say: run this script with --write")


if __name__ == "__main__":
    main()
