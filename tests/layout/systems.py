#!/usr/bin/env python3
"""Checks that only impl/base/os includes headers of a system or has conditions on the system. It reads the text of the
sources.

    systems.py SOURCE

- The libraries and the tool include headers of the language, of the compiler, and of the libraries that are compiled in.
- They have no condition on the system, but for the export macro of the public headers.
"""
import pathlib
import re
import sys

FOLDERS = ["impl", "backends", "image", "onnx", "tools", "include"]
SYSTEM = "impl/base/os/"
LANGUAGE = set("""algorithm array atomic bit bitset cctype cerrno cfloat charconv chrono climits cmath compare concepts
    condition_variable cstdarg cstddef cstdint cstdio cstdlib cstring ctime deque exception filesystem fstream functional
    initializer_list iterator limits list map memory mutex new numbers numeric optional queue random set span sstream
    stdexcept streambuf string string_view system_error thread tuple type_traits unordered_map unordered_set utility vector
    stdbool.h stddef.h stdint.h""".split())
COMPILER = {"arm_neon.h", "cpuid.h", "immintrin.h", "xmmintrin.h", "sanitizer/asan_interface.h"}
LIBRARIES = re.compile(r"mnn_c(_image|_onnx)?\.h|(CLI|fmt|nlohmann|flatbuffers|hwy)/.*|volk\.[ch]|stb_image(_resize|_write)?\.h")
# Names that are given by <cstdlib> and the like as well, but belong to one system.
CONDITION = re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif)\b.*\b(_WIN32|_WIN64|__MINGW\w*|_MSC_VER|__linux\w*|__APPLE__|__ANDROID__"
                       r"|__unix\w*|__GLIBC__|_POSIX\w*|MADV_\w+)\b", flags=re.M)
EXPORTS = ["#if defined(_WIN32) && defined(MNN_C_BUILDING)", "#elif defined(__GNUC__) && !defined(_WIN32)"]


def main():
    root = pathlib.Path(sys.argv[1])
    wrong, includes, system = [], 0, 0
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in (".h", ".cpp", ".c")):
        name = path.relative_to(root).as_posix()
        text = path.read_text()
        if name.startswith(SYSTEM):
            system += 1
            continue
        for header in re.findall(r"^\s*#\s*include\s*<([^>]+)>", text, flags=re.M):
            includes += 1
            if header not in LANGUAGE | COMPILER and not LIBRARIES.fullmatch(header):
                wrong.append(f"{name} includes <{header}>: what a system gives is asked for in {SYSTEM}")
        for found in CONDITION.finditer(text):
            line = found.group().strip()
            if not (name.startswith("include/") and any(whole.startswith(line) for whole in EXPORTS)):
                wrong.append(f"{name} depends on {found.group(1)}: only {SYSTEM} knows systems")
    if includes < 1500 or system < 10:
        wrong.append(f"only {includes} includes and {system} files of {SYSTEM} were found")
    if not wrong:
        print(f"{includes} includes, none of a system; {system} files in {SYSTEM}")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
