"""The package has everything that include/mnn_c.h has: functions with their arguments, structs with their layouts,
enumerators."""

import ctypes
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from support import FOLDER, REPOSITORY, mnn_c
from mnn_c import _abi, enums, errors
from mnn_c._functions import FUNCTIONS

HEADER = REPOSITORY / "include" / "mnn_c.h"

# Functions that the package does not call, and why.
LEFT_OUT = {
    "mnn_last_error": "mnn_last_error_copy takes its place",
    "mnn_session_resize": "mnn_session_resize_with_options takes its place",
    "mnn_node_attribute": "Node.attribute() searches the attributes, which were copied",
    "mnn_tensor_map": "a view would outlive its memory; Tensor.bind() takes its place",
    "mnn_tensor_unmap": "as mnn_tensor_map",
    "mnn_tensor_write": "mnn_tensor_write_as takes its place",
    "mnn_tensor_read": "mnn_tensor_read_as takes its place",
}
GROUPS = {
    "TYPE": enums.ElementType, "FORMAT": enums.Format, "FORWARD": enums.Forward, "PRECISION": enums.Precision,
    "GPU": enums.GpuMode, "MEMORY": enums.Memory, "POWER": enums.Power, "LOAD": enums.Load, "LOG": enums.LogLevel, "KEEP": enums.Keep,
    "SOURCE": enums.Source, "USAGE": enums.Usage, "OP": enums.Op, "TENSOR": enums.TensorKind, "BUFFER": enums.BufferKind,
}
SCALARS = {
    "size_t": "c_size_t", "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64", "float": "c_float",
    "double": "c_double", "bool": "c_bool", "uint8_t": "c_uint8", "mnn_status": "c_int32", "char": "c_char",
}


def header_text():
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    return "\n".join(line for line in text.split("\n") if not line.startswith("#"))


def camel(name):
    return "".join(part.title() for part in re.sub("^mnn_|_t$", "", name).split("_"))


def ctypes_of(declared):
    """The type of ctypes for a type of C."""
    kind = re.sub(r"\b(const|struct)\b", "", declared).replace(" ", "")
    if kind in SCALARS:
        return getattr(ctypes, SCALARS[kind])
    if kind == "char*":
        return ctypes.c_char_p
    if kind == "void*" or re.fullmatch(r"mnn_(interpreter|session|tensor|cancel|runtime)_t\*", kind):
        return ctypes.c_void_p
    if kind.endswith("*"):
        return ctypes.POINTER(ctypes_of(kind[:-1]))
    return getattr(_abi, camel(kind))


def structs():
    return re.findall(r"typedef struct mnn_\w+ \{(.*?)\} (mnn_\w+_t);", header_text(), re.S)


class Header(unittest.TestCase):
    def test_functions_have_the_arguments_of_the_header(self):
        found = re.findall(r"MNN_C_API (.*?)(mnn_\w+)\((.*?)\);", header_text(), re.S)
        self.assertGreater(len(found), 90)
        self.assertEqual({name for _, name, _ in found}, set(FUNCTIONS))
        for result, name, arguments in found:
            wanted = [] if arguments == "void" else [
                ctypes_of(re.fullmatch(r"(.*?)\w+", " ".join(argument.split()))[1]) for argument in arguments.split(",")]
            self.assertEqual(FUNCTIONS[name], (ctypes_of(result), wanted), name)

    def test_every_export_is_called(self):
        exports = set(re.findall(r"^mnn_\w+$", (REPOSITORY / "tests" / "c_abi" / "exports.txt").read_text(), re.M))
        self.assertEqual(exports, set(FUNCTIONS))
        text = "".join(p.read_text() for p in (FOLDER / "src" / "mnn_c").glob("*.py") if p.name != "_functions.py")
        called = set(re.findall(r"\bC\.(mnn_\w+)", text))
        self.assertEqual(exports - called, set(LEFT_OUT))

    def test_enumerators(self):
        found = dict(re.findall(r"\bMNN_(\w+) = (\d+)", header_text()))
        self.assertGreater(len(found), 90)
        for name, value in found.items():
            group, _, member = name.partition("_")
            if name == "OK" or group == "MAP":
                continue
            if group == "ERROR":
                self.assertIn(int(value), errors.BY_STATUS, name)
                self.assertEqual(errors.BY_STATUS[int(value)]("").status_name, "MNN_" + name)
            elif group == "MAX":
                self.assertEqual(getattr(_abi, name), int(value))
            elif name.startswith("C_VERSION"):
                parts = mnn_c.__version__.split(".")
                self.assertEqual(parts[["MAJOR", "MINOR", "PATCH"].index(name[10:])], value)
            else:
                self.assertEqual(GROUPS[group][member], int(value), name)
        names = {f"{group}_{member.name}" for group, kind in GROUPS.items() for member in kind}
        self.assertEqual(names - set(found), set())

    def test_structs_have_the_layout_that_a_compiler_gives_them(self):
        compiler = shutil.which("cc")
        if compiler is None:
            self.skipTest("needs a C compiler")
        lines, wanted = [], {}
        for body, name in structs():
            kind = getattr(_abi, camel(name))
            wanted[name] = ctypes.sizeof(kind)
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            fields = [re.search(r"(\w+)(\[\w+\])?$", " ".join(f.split()))[1] for f in body.split(";") if f.strip()]
            self.assertEqual([field[0] for field in kind._fields_], fields, name)
            for field in fields:
                key = f"{name}.{field}"
                wanted[key] = getattr(kind, field).offset * 1000 + getattr(kind, field).size
                lines.append(f'printf("{key} %zu\\n", offsetof({name}, {field}) * 1000 + sizeof((({name}*)0)->{field}));')
        self.assertGreater(len(wanted), 150)
        with tempfile.TemporaryDirectory() as folder:
            source, program = pathlib.Path(folder, "layout.c"), pathlib.Path(folder, "layout")
            source.write_text("#include <mnn_c.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\n}\n")
            subprocess.run([compiler, "-I", str(HEADER.parent), str(source), "-o", str(program)], check=True)
            output = subprocess.run([str(program)], check=True, stdout=subprocess.PIPE).stdout.decode()
        self.assertEqual({k: int(v) for k, v in (line.split() for line in output.splitlines())}, wanted)


if __name__ == "__main__":
    unittest.main()
