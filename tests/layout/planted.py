#!/usr/bin/env python3
"""scripts/check.sh passes on the tree, and names each defect that is planted in a copy of it.

    planted.py REPOSITORY
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

# File, text, its replacement, the message that the check must print.
PLANTS = [
    ("impl/base/checked.h", "#pragma once\n", "#pragma once\nint  planted ;\n", "checked.h:"),
    ("impl/base/log.cpp", '#include "base/log.h"\n', '#include "base/log.h"\n\n#include "plan/graph.h"\n', "impl/base/log.cpp includes impl/plan/graph.h"),
    ("impl/base/log.h", "#pragma once\n", "#pragma once\n#include <unistd.h>\n", "impl/base/log.h includes <unistd.h>"),
    ("impl/tensor/shape.h", "#pragma once\n", "#pragma once\n#ifdef _WIN32\n#endif\n", "impl/tensor/shape.h depends on _WIN32"),
    ("backends/cpu/kernels/w8a16/w8a16_row_kernels.cpp", '#include "backends/cpu/kernels/dispatch.h"\n', "",
     "w8a16_row_kernels.cpp includes hwy/foreach_target.h without"),
    ("backends/cpu/ops/split.h", "#pragma once\n", "#pragma once\nstruct Planted {\n    mutable int planted;\n};\n", "a run could change: mutable int planted"),
    ("impl/base/stopwatch.h", "#pragma once\n", "#pragma once\n// Of a planted comment.\n", "stopwatch.h:"),
    ("impl/ir/README.md", "params", "planted", "impl/ir: README.md does not name params.h"),
    ("include/mnn_c.h", "/* Ends mnn_tensor_map()", "/* Planted. */\nMNN_C_API mnn_status mnn_planted(void);\n\n/* Ends mnn_tensor_map()", "exports.txt"),
    ("bindings/python/pyproject.toml", '\nversion = "', '\nversion = "9', "pyproject.toml"),
]


def checked(root):
    done = subprocess.run(["bash", root / "scripts/check.sh"], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    root = pathlib.Path(sys.argv[1])
    if not (shutil.which("clang-format-14") or shutil.which("clang-format")):
        print("clang-format is missing")
        sys.exit(77)
    status, text = checked(root)
    if status != 0:
        sys.exit(f"check.sh fails on the tree:\n{text}")
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "tree"
        shutil.copytree(root, copy, symlinks=True, ignore=shutil.ignore_patterns("build", "build-*", ".git", "target", "cases", "corpus*"))
        for name, before, after, _ in PLANTS:
            path = copy / name
            content = path.read_text()
            if before not in content:
                sys.exit(f"{name} has no '{before.strip()}' to plant a defect at")
            path.write_text(content.replace(before, after, 1))
        status, text = checked(copy)
    wrong = [f"check.sh does not see what was planted in {name}" for name, _, _, said in PLANTS if said not in text]
    if status == 0 or wrong:
        sys.exit("\n".join(wrong + ["check.sh said:", text]))
    print(f"{len(PLANTS)} planted defects are found")


if __name__ == "__main__":
    main()
