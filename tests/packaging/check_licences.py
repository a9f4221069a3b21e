#!/usr/bin/env python3
"""THIRD-PARTY names every library whose code is compiled in, and is in every package with the versions of the build.

    check_licences.py --source DIR --stage DIR sources | installed | packed

`sources` looks at the includes of the sources and at the copies of the bindings, `installed` at STAGE/prefix, `packed` at
the archive and the Debian packages of STAGE/packages. Exit status: 0 passed, 1 failed.
"""
import argparse
import io
import pathlib
import re
import subprocess
import sys
import tarfile

# The first part of an include -> the entry of THIRD-PARTY. "": nothing of it gets into a package.
INCLUDES = {
    "flatbuffers": "FlatBuffers", "hwy": "Highway", "volk.h": "volk", "volk.c": "volk", "vulkan": "Vulkan-Headers",
    "CLI": "CLI11", "fmt": "{fmt}", "nlohmann": "JSON for Modern C++",
    "stb_image.h": "stb_image", "stb_image_resize.h": "stb_image_resize",
    "stb_image_write.h": "stb_image_write",
    "sys": "", "asm": "", "linux": "", "mach-o": "", "arm_neon.h": "", "sanitizer": "",
}
# No include names these: volk brings headers; compilers, also those for Windows and for musl, bring their runtimes.
ALWAYS = {"Vulkan-Headers", "libstdc++ and libgcc", "mingw-w64", "winpthreads", "libc++, libc++abi and libunwind",
          "compiler-rt of Zig"}
# Files that must be present for users who copy the folder; the scripts that make packages add the others.
COPIES = ["bindings/go/LICENSE", "bindings/rust/mnn-c/LICENSE", "bindings/rust/mnn-c-sys/LICENSE", "bindings/python/LICENSE"]
TEXTS = ["MIT", "BSD-3-Clause", "GCC Runtime Library Exception 3.1", "Apache-2.0", "LLVM Exceptions to the Apache 2.0 License",
         "ZPL-2.1"]


def entries(text, where):
    """Returns name -> version; checks that the texts of all licences that entries name are present."""
    found = dict(re.findall(r"^Name: (.+)\nVersion: (.+)\nInside: .+\nLicense: .+\nCopyright: ", text, flags=re.M))
    if len(found) != text.count("Name: ") or not all(re.fullmatch(r"[\d.]+", version) for version in found.values()):
        sys.exit(f"{where}: entries without a version, a place, a licence or a holder: {found}")
    for title in TEXTS:
        if f"\n{title}\n{'-' * len(title)}\n" not in text:
            sys.exit(f"{where} has no text of the licence {title}")
    return found


def check_sources(source):
    wanted = set(ALWAYS)
    seen = 0
    for folder in ("impl", "backends", "image", "tools"):
        for path in (source / folder).rglob("*"):
            if path.suffix not in (".c", ".cpp", ".h"):
                continue
            for include in re.findall(r'^ *# *include [<"]([^">]+)[">]', path.read_text(), flags=re.M):
                seen += 1
                part = include.split("/")[0]
                own = (path.parent / include).exists() or any((source / place / include).exists()
                                                              for place in ("impl", ".", "include", "image", "tools/mnn"))
                if part in INCLUDES and not own:
                    wanted.add(INCLUDES[part])
                elif not own and ("/" in include or include.endswith(".hpp")):
                    sys.exit(f"{path} includes {include}, which is of no library of INCLUDES in {__file__}")
    if seen < 1000:
        sys.exit(f"only {seen} includes were found")
    text = (source / "THIRD-PARTY").read_text()
    names = set(entries(text, "THIRD-PARTY"))
    if names != wanted - {""}:
        sys.exit(f"THIRD-PARTY and the includes differ in {sorted(names ^ (wanted - {''}))}")
    for copy in COPIES:
        original = source / pathlib.Path(copy).name
        if (source / copy).read_text() != original.read_text():
            sys.exit(f"{copy} is another one than {original.name}; copy it")


def check_package(source, files, where, names):
    """files: path -> text. Checks that each of the wanted files has the licence or the notices, with every entry."""
    own = (source / "LICENSE").read_text()
    listed = set(entries((source / "THIRD-PARTY").read_text(), "THIRD-PARTY"))
    for name in names:
        if name not in files:
            sys.exit(f"{where} has no {name}; it has {sorted(files)}")
        text = files[name]
        if name.endswith(("LICENSE", "/copyright")) and own.strip() not in text:
            sys.exit(f"{name} of {where} lacks the licence of the project")
        if name.endswith(("THIRD-PARTY", "/copyright")) and set(entries(text, f"{name} of {where}")) != listed:
            sys.exit(f"{name} of {where} has other entries than THIRD-PARTY")


def check_installed(source, prefix):
    documents = prefix / "share" / "doc"
    files = {str(path.relative_to(prefix)): path.read_text() for path in documents.rglob("*") if path.is_file()}
    check_package(source, files, prefix, ["share/doc/mnn_c/LICENSE", "share/doc/mnn_c/THIRD-PARTY"])


def texts_of(archive):
    texts = {}
    for member in archive:
        if member.isfile() and "/share/doc/" in member.name:
            texts[member.name[member.name.index("share/doc/"):]] = archive.extractfile(member).read().decode()
    return texts


def check_packed(source, packages):
    archives = list(packages.glob("*.tar.gz"))
    if len(archives) != 1:
        sys.exit(f"expected one archive, found {archives}")
    with tarfile.open(archives[0]) as archive:
        check_package(source, texts_of(archive), archives[0].name,
                      ["share/doc/mnn_c/LICENSE", "share/doc/mnn_c/THIRD-PARTY"])
    for name in ("libmnn-c0", "libmnn-c-dev", "mnn-c-tools"):
        packed = list(packages.glob(f"{name}_*.deb"))
        if len(packed) != 1:
            sys.exit(f"expected one package {name}, found {packed}")
        contents = subprocess.run(["dpkg-deb", "--fsys-tarfile", packed[0]], stdout=subprocess.PIPE, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(contents)) as archive:
            check_package(source, texts_of(archive), packed[0].name, [f"share/doc/{name}/copyright"])
        maintainer = subprocess.run(["dpkg-deb", "--field", packed[0], "Maintainer"], stdout=subprocess.PIPE,
                                    check=True, text=True).stdout
        if not re.fullmatch(r".+ <.+@.+>\n", maintainer):
            sys.exit(f"the maintainer of {name} is {maintainer!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--source", required=True, type=pathlib.Path)
    parser.add_argument("--stage", required=True, type=pathlib.Path)
    parser.add_argument("way", choices=["sources", "installed", "packed"])
    arguments = parser.parse_args()
    if arguments.way == "sources":
        check_sources(arguments.source)
    elif arguments.way == "installed":
        check_installed(arguments.source, arguments.stage / "prefix")
    else:
        check_packed(arguments.source, arguments.stage / "packages")


if __name__ == "__main__":
    main()
