#!/usr/bin/env python3
"""Every file that names the version of the library names that of mnn_c.h, and no comment of a header says "Since" a later one.

    versions.py REPOSITORY
"""
import pathlib
import re
import sys

# File, pattern of a version in it, how many there are.
PLACES = [
    ("CMakeLists.txt", r"project\(mnn_c VERSION ([\d.]+)", 1),
    ("CHANGELOG.md", r"\A(?:(?!^## ).)*^## ([\d.]+)", 1),
    ("bindings/rust/mnn-c-sys/Cargo.toml", r'^version = "([\d.]+)"', 1),
    ("bindings/rust/mnn-c/Cargo.toml", r'^(?:version|mnn-c-sys) = .*?"([\d.]+)"(?= }$|$)', 2),
    ("bindings/rust/Cargo.lock", r'name = "mnn-c(?:-sys)?"\nversion = "([\d.]+)"', 2),
    ("bindings/rust/README.md", r'^version = "([\d.]+)"', 1),
    ("bindings/python/pyproject.toml", r'^version = "([\d.]+)"', 1),
    ("bindings/python/src/mnn_c/__init__.py", r'^__version__ = "([\d.]+)"', 1),
    ("examples/many_machines/README.md", r"mnn_c-([\d.]+)-py3", 1),
    ("examples/plugin_host/README.md", r"libmnn_c ([\d.]+):", 3),
    ("tests/packaging/check_packages.py", r'^VERSION = "([\d.]+)"', 1),
    ("tests/packaging/check_crates.sh", r'^version = "([\d.]+)"', 1),
]
# The same without the last number.
MINOR = [
    ("bindings/rust/mnn-c-sys/build.rs", r'range_version\("([\d.]+)"', 1),
    ("docs/use.md", r"find_package\(mnn_c ([\d.]+) ", 1),
    ("tests/packaging/consumer/CMakeLists.txt", r"find_package\(mnn_c ([\d.]+) ", 1),
]


def main():
    root, problems = pathlib.Path(sys.argv[1]), []
    header = (root / "include/mnn_c.h").read_text(encoding="utf-8")
    numbers = [re.search(rf"MNN_C_VERSION_{part} = (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH")]
    for places, wanted in ((PLACES, ".".join(numbers)), (MINOR, ".".join(numbers[:2]))):
        for name, pattern, count in places:
            found = re.findall(pattern, (root / name).read_text(encoding="utf-8"), flags=re.M | re.S)
            if found != [wanted] * count:
                problems.append(f"{name} has the versions {found}, the header {wanted}, which stands there {count} times")
    since = [(path.name, version) for path in sorted((root / "include").glob("*.h"))
             for version in re.findall(r"\bSince\s(?:\*\s)?(\d+(?:\.\d+)+)", path.read_text(encoding="utf-8"))]
    if len(since) < 100:
        problems.append(f"only {len(since)} times a header says 'Since'")
    for name, version in since:
        parts = version.split(".")
        if len(parts) != 2 or list(map(int, parts)) > list(map(int, numbers[:2])):
            problems.append(f"{name} says 'Since {version}'")
    print("\n".join(problems) or f"{'.'.join(numbers)} in {len(PLACES) + len(MINOR)} files, 'Since' {len(since)} times")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
