#!/usr/bin/env python3
"""The binary interfaces of mnn_c.h, mnn_c_onnx.h and mnn_c_image.h against tests/abi/baseline*.abi, with libabigail.

    abi.py check  --cc C --source DIR --work DIR    nothing differs from the baselines
    abi.py prove  --cc C --source DIR --work DIR    deliberate changes of the headers are reported
    abi.py update --cc C --source DIR --work DIR    writes the baselines

The interface is compared as the header declares it: each function gets an empty body, and the
header is compiled with -g into a library of its own, which takes a second (so all its types are public, and none has
to be left out). The
real library cannot differ: its C++ sources define the same declarations, and test `exports` compares the names. Values
of constants count too: each enum is given a name and a function that takes it. Exit status: 0 passed,
1 failed, 77 libabigail is missing or not for this machine.
"""
import argparse
import pathlib
import platform
import re
import shutil
import subprocess
import sys

SKIPPED = 77
# The effect of a change of the header on its users, how to make the change, and the name that abidiff must report.
CHANGES = {"mnn_c": [
    ("a field gets another type", r"int32_t threads;", "int64_t threads;", "threads"),
    ("a field comes in between", r"(uint64_t weight_bytes;)", r"uint64_t early; \1", "early"),
    ("a field is gone", r"uint32_t vendor_id;", "", "vendor_id"),
    ("an argument gets another type", r"(mnn_session_input_at\(const mnn_session_t\* session, )size_t", r"\1int32_t",
     "mnn_session_input_at"),
    ("a result gets another type", r"uint32_t mnn_abi_version", "uint64_t mnn_abi_version", "mnn_abi_version"),
    ("a callback gets another argument", r"(\(\*mnn_log_callback\)\(void\* user_data, )int32_t", r"\1int64_t",
     "mnn_log_callback"),
    ("a function is gone", r"MNN_C_API mnn_status mnn_tensor_unmap\([^;]*;", "", "mnn_tensor_unmap"),
    ("a constant gets another value", r"MNN_ERROR_BUSY = 109", "MNN_ERROR_BUSY = 209", "MNN_ERROR_BUSY"),
], "mnn_c_onnx": [
    ("a field gets another type", r"int32_t weight_block;", "int64_t weight_block;", "weight_block"),
    ("a field comes in between", r"(const char\* data_folder;)", r"uint64_t early; \1", "early"),
    ("an argument gets another type", r"(mnn_onnx_result_note\(const mnn_onnx_result_t\* result, )size_t", r"\1int32_t",
     "mnn_onnx_result_note"),
    ("a callback gets another argument", r"(\(\*mnn_onnx_progress\)\(void\* user_data, )uint64_t", r"\1int32_t",
     "mnn_onnx_progress"),
    ("a function is gone", r"MNN_C_API mnn_status mnn_onnx_result_save\([^;]*;", "", "mnn_onnx_result_save"),
    ("a constant gets another value", r"MNN_ONNX_WEIGHTS_INT4 = 3", "MNN_ONNX_WEIGHTS_INT4 = 4", "MNN_ONNX_WEIGHTS_INT4"),
], "mnn_c_image": [
    ("a field gets another type", r"double min_score;", "float min_score;", "min_score"),
    ("a field comes in between", r"(int32_t input_width;)", r"uint64_t early; \1", "early"),
    ("an argument gets another type", r"(mnn_image_decode\(const void\* file, )size_t", r"\1int32_t", "mnn_image_decode"),
    ("a function is gone", r"MNN_C_API mnn_status mnn_image_crop\([^;]*;", "", "mnn_image_crop"),
    ("a constant gets another value", r"MNN_IMAGE_UNIT_FRACTIONS = 2", "MNN_IMAGE_UNIT_FRACTIONS = 3",
     "MNN_IMAGE_UNIT_FRACTIONS"),
]}
HARMLESS = {"mnn_c": [
    ("a comment", r"/\* ---- Status", "/* ---- The status"),
    ("the name of an argument", r"mnn_status_name\(mnn_status status\)", "mnn_status_name(mnn_status code)"),
], "mnn_c_onnx": [
    ("a comment", r"/\* The extents of an input", "/* Extents of an input"),
], "mnn_c_image": [
    ("a comment", r"/\* The unit of coordinates", "/* Unit of coordinates"),
]}
# The baseline of each library, and the version script with which it is linked.
LIBRARIES = {"mnn_c": ("baseline.abi", "cmake/mnn_c.map"), "mnn_c_onnx": ("baseline_onnx.abi", "onnx/mnn_c_onnx.map"),
             "mnn_c_image": ("baseline_image.abi", "image/mnn_c_image.map")}


def with_bodies(header, prefix):
    """Returns the header as a C source in which every function is defined."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text, functions = re.subn(r"^(MNN_C_API\b[^;{]*);", r"\1 { __builtin_trap(); }", text, flags=re.M)
    enums = re.findall(r"\benum\s*\{\s*(\w+)", text)
    text = re.sub(r"\benum\s*\{(\s*)(\w+)", r"enum constants_\2 {\1\2", text)
    if not functions or not enums:
        sys.exit("abi.py: no functions or no enums were found in the header")
    return text + "".join(
        f"MNN_C_API void {prefix}_constants_{name}(enum constants_{name} value);\n"
        f"void {prefix}_constants_{name}(enum constants_{name} value) {{ (void)value; }}\n" for name in enums)


def run(*command):
    return subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


class Interface:
    def __init__(self, arguments, name):
        self.cc, self.source, self.work = arguments.cc, arguments.source, arguments.work / name
        self.name = name
        self.header = (self.source / "include" / f"{name}.h").read_text(encoding="utf-8")
        baseline, self.script = LIBRARIES[name]
        self.baseline = self.source / "tests/abi" / baseline
        self.work.mkdir(parents=True, exist_ok=True)

    def library(self, header, name):
        source, library = self.work / f"{name}.c", self.work / f"{name}.so"
        source.write_text(with_bodies(header, self.name.replace("_c", "")), encoding="utf-8")
        done = run(self.cc, "-std=c11", "-g", "-O0", "-fPIC", "-shared", f"-Wl,-soname,lib{self.name}.so.0",
                   f"-ffile-prefix-map={self.work}=.", f"-ffile-prefix-map={self.source}=.",
                   f"-Wl,--version-script={self.source / self.script}", "-I", self.source / "include", source, "-o", library)
        if done.returncode:
            sys.exit(f"abi.py: the {name} does not compile:\n{done.stdout}")
        return library

    def difference(self, header, name):
        """Returns abidiff's status (0: no difference) and report."""
        done = run("abidiff", self.baseline, self.library(header, name))
        if done.returncode & 3:
            sys.exit(f"abi.py: abidiff failed:\n{done.stdout}")
        return done.returncode, done.stdout

    def check(self):
        if not self.baseline.exists():
            sys.exit("abi.py: there is no baseline; tests/abi/update_baseline.sh makes it")
        status, report = self.difference(self.header, "interface")
        if status:
            print(report)
            print("The binary interface differs from tests/abi/baseline*.abi. If that is wanted: is it compatible (new\n"
                  "functions, new fields at the end)? Then tests/abi/update_baseline.sh. If not, users break.")
        return 1 if status else 0

    def prove(self):
        failed = 0
        for what, pattern, replacement, name in CHANGES[self.name]:
            changed, count = re.subn(pattern, replacement, self.header, count=1)
            if not count:
                sys.exit(f"abi.py: the change '{what}' finds nothing to change in the header")
            status, report = self.difference(changed, "changed interface")
            reported = status != 0 and name in report
            print(f"{what}: abidiff's status {status}, {'reported' if reported else 'NOT reported'}")
            failed += not reported
            if not reported:
                print(report)
        for what, pattern, replacement in HARMLESS[self.name]:
            changed, count = re.subn(pattern, replacement, self.header, count=1)
            if not count:
                sys.exit(f"abi.py: the change '{what}' finds nothing to change in the header")
            status, report = self.difference(changed, "unchanged interface")
            print(f"{what}: abidiff's status {status}")
            failed += status != 0
        return 1 if failed else 0

    def update(self):
        done = run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--out-file", self.baseline,
                   self.library(self.header, "interface"))
        if done.returncode:
            sys.exit(f"abi.py: abidw failed:\n{done.stdout}")
        return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("command", choices=("check", "prove", "update"))
    parser.add_argument("--cc", default="cc")
    for name in ("source", "work"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    if not shutil.which("abidiff"):
        print("skipped: abidiff is not installed (abigail-tools)")
        return SKIPPED
    if platform.machine() != "x86_64":
        print(f"skipped: the baseline is of x86_64, this is {platform.machine()}")
        return SKIPPED
    return max(getattr(Interface(arguments, name), arguments.command)() for name in LIBRARIES)


if __name__ == "__main__":
    sys.exit(main())
