#!/usr/bin/env python3
"""The samples in C of docs/use.md compile without warnings, and show every group of functions of the header.

    use_page.py CC PAGE HEADER
"""
import pathlib
import re
import subprocess
import sys

# Functions that the page need not mention: they only count, name or repeat results of other functions.
PLAIN = re.compile(
    r"mnn_(backend_\w+|version(_numbers)?|last_error_copy|resize_options_init|session_needs_resize|"
    r"\w+_count|\w+_name|session_(in|out)put_at|session_path_info|"
    r"interpreter_(biz_code|uuid|model_version|model_bytes)|tensor_(nchw|shape))")


def main():
    compiler, page, header = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(), pathlib.Path(sys.argv[3])
    samples = [sample for sample in re.findall(r"^```c\n(.*?)^```", page, flags=re.M | re.S) if "#include <mnn_c.h>" in sample]
    if len(samples) < 20:
        sys.exit(f"only {len(samples)} samples were found")
    for sample in samples:
        done = subprocess.run(
            [compiler, "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c",
             f"-I{header.parent}", "-"],
            input=sample, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            sys.exit(f"{done.stdout}\nin the sample\n{sample}")
    functions = re.findall(r"^MNN_C_API [^;]*?\b(mnn_\w+)\(", header.read_text(), flags=re.M)
    if len(functions) < 100:
        sys.exit(f"only {len(functions)} functions were found")
    missing = [name for name in functions if not re.search(rf"\b{name}\b", page) and not PLAIN.fullmatch(name)]
    if missing:
        sys.exit(f"docs/use.md has no example with {missing}")


if __name__ == "__main__":
    main()
