#!/usr/bin/env python3
"""Checks that the files of bindings/generate.py agree with the headers, and that changes of the headers are detected.

    check_generated.py REPOSITORY
"""
import pathlib
import re
import subprocess
import sys
import tempfile

FUNCTION = "MNN_C_API mnn_status mnn_tensor_planted(const mnn_tensor_t* tensor, int32_t* count);\n\n"
UNMAP = "/* Ends mnn_tensor_map()"
# Changes of mnn_c.h: the old text, the new text, and the expected message.
CHANGES = [
    ("a function", UNMAP, f"/* Planted. */\n{FUNCTION}{UNMAP}",
     ["_functions.py", "functions.rs", "shims_generated.h", "exports.txt", "plugin_host/functions.h"]),
    ("a field", "uint64_t stage_plans; ", "uint64_t planted; /* planted */ uint64_t stage_plans; ",
     ["_abi.py", "types.rs", "layouts.rs", "infos.go", "info.py"]),
    ("a constant", "MNN_USAGE_TRAIN = 1,", "MNN_USAGE_TRAIN = 1, MNN_USAGE_PLANTED = 7,",
     ["enums.py", "enums.go", "constants.rs", "mnn-c/src/enums.rs"]),
    ("a status", "MNN_ERROR_TIMEOUT = 125, ", "MNN_ERROR_PLANTED = 126, /* planted */ MNN_ERROR_TIMEOUT = 125, ",
     ["errors.py", "enums.go"]),
    ("the words of a comment", "/* The extents of a tensor of four", "/* The numbers of a tensor of four", ["functions.rs"]),
    ("a function without a comment", UNMAP, FUNCTION + UNMAP, ["no comment stands before or behind mnn_tensor_planted"]),
    ("a constant of a new group", UNMAP, f"/* Planted. */\nenum {{ MNN_PLANTED = 1 }};\n\n{UNMAP}", ["MNN_PLANTED"]),
]


def generate(repository, *arguments):
    done = subprocess.run([sys.executable, str(repository / "bindings/generate.py"), *map(str, arguments)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


def main():
    repository = pathlib.Path(sys.argv[1])
    status, said = generate(repository, "--check")
    print(said, end="")
    if status:
        return status
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        include = pathlib.Path(folder)
        headers = {path.name: path.read_text(encoding="utf-8") for path in (repository / "include").glob("*.h")}
        for name, text in headers.items():
            (include / name).write_text(text, encoding="utf-8")
        for what, before, behind, wanted in CHANGES:
            changed, count = re.subn(re.escape(before), lambda _: behind, headers["mnn_c.h"], count=1)
            (include / "mnn_c.h").write_text(changed, encoding="utf-8")
            status, said = generate(repository, "--check", "--include", include)
            missing = [words for words in wanted if words not in said]
            if not count or status != 1 or missing:
                failed += 1
                print(f"{what}: found {count} times, status {status}, nothing is said of {missing}:\n{said}")
        (include / "written").mkdir()
        (include / "mnn_c.h").write_text(headers["mnn_c.h"], encoding="utf-8")
        for arguments in (["--output"], ["--check", "--output"]):  # the written files are not stale
            status, said = generate(repository, "--include", include, *arguments, include / "written")
            failed += status != 0
            print(said, end="" if not status else f"status {status} of {arguments}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
