#!/usr/bin/env python3
"""Checks that what docs/engine.md names exists: functions of the header, programs of tests/c_abi and their tests, folders of
tests. Prints what does not, and how many rows there are of each verdict; the exit status is 1 when something is missing
or the numbers in the text differ.

    engine_page.py PAGE HEADER TESTS
"""
import pathlib
import re
import sys


def rows(text):
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 5 and re.match(r"(from )?[A-O]\d", cells[0]):
            yield cells


def count(ids):
    if ids.startswith(("from N", "N30")):
        return 1
    numbers = [int(number) for number in re.findall(r"\d+", ids)]
    return numbers[1] - numbers[0] + 1 if " to " in ids else len(numbers)


def missing_functions(cell, header):
    """`session_input`, `_at` are mnn_session_input and one that ends so."""
    for name in re.findall(r"`(\w+)`", cell):
        if name.startswith("_"):
            found = re.search(rf"\bmnn_\w+{name}\b", header, re.IGNORECASE) or re.search(rf"\bMNN_\w+{name}\b", header)
        else:
            found = re.search(rf"\b(mnn_)?{name}\b", header)
        if not found:
            yield name


def missing_tests(cell, tests):
    for name, listed in re.findall(r"`(\w+_test)`((?: \w+,?)*)", cell):
        path = tests / "c_abi" / f"{name}.c"
        source = path.read_text(encoding="utf-8") if path.exists() else ""
        if not source:
            yield name
        yield from (f"{name} {test}" for test in re.findall(r"\w+", listed) if test not in source)
    yield from (name for name in re.findall(r"`tests/(\w+)`", cell) if not (tests / name).is_dir())


def main():
    page, header, tests = (pathlib.Path(argument) for argument in sys.argv[1:4])
    text, declared = page.read_text(encoding="utf-8"), header.read_text(encoding="utf-8")
    problems, verdicts = [], {"good": 0, "partly": 0, "n/a": 0, "left out": 0, "not yet": 0}
    for ids, _, here, test, verdict in rows(text):
        problems += [f"{ids}: the header has no {name}" for name in missing_functions(here, declared)]
        problems += [f"{ids}: there is no test {name}" for name in missing_tests(test, tests)]
        kind = next((kind for kind in list(verdicts)[1:] if verdict.startswith(kind)), "good")
        if kind == "good" and not verdict.startswith(("same", "better")):
            problems.append(f"{ids}: '{verdict}' is no verdict")
        verdicts[kind] += count(ids)
    sentence = re.search(r"Of \d+ rows [^.]*\.", text)[0]
    said = [int(number) for number in re.findall(r"\d+", sentence)]
    if said != [sum(verdicts.values()), *verdicts.values()]:
        problems.append(f"the text says {said}, the tables have {sum(verdicts.values())}, {verdicts}")
    print("\n".join(problems) or f"{sum(verdicts.values())} rows: {verdicts}")
    return 1 if problems else 0


sys.exit(main())
