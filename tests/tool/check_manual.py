#!/usr/bin/env python3
"""The manual page that is installed is what the tool makes of its options and help texts.

    check_manual.py TOOL PAGE
"""
import difflib
import pathlib
import subprocess
import sys

tool, page = sys.argv[1:]
printed = subprocess.run([tool, "manual"], stdout=subprocess.PIPE, check=True).stdout.decode()
stored = pathlib.Path(page).read_text(encoding="utf-8")
if printed.count("\n.SS mnn ") < 10 or printed.count("\n.TP\n") < 60:
    sys.exit(f"'mnn manual' prints too few commands or options:\n{printed}")
if printed != stored:
    lines = difflib.unified_diff(stored.splitlines(), printed.splitlines(), page, "mnn manual", lineterm="")
    sys.exit("\n".join(lines) + f"\n{page} is stale: 'mnn manual --output {page}' writes it anew")
