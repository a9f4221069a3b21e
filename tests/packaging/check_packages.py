#!/usr/bin/env python3
"""Installs and packs the library, and uses the result from a program outside of the tree.

    check_packages.py --cmake C --cpack C --cc C --source DIR --build DIR --stage DIR WAY

Each WAY below is a test; `install` and `pack` come before the others. The program is examples/c/classify_digits.c, which
classifies the held-out images of the demo model; that of libmnn_c_image is consumer/picture.c, which takes values of a
picture, that of libmnn_c_onnx consumer/convert.c, which runs an ONNX model. Exit status: 0 passed, 1 failed, 77 something
is missing here.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

SKIPPED = 77
VERSION = "0.2.0"
# Maps a library to its program and a part of the output of that program.
PROGRAMS = {"mnn_c": ("examples/c/classify_digits.c", "held-out images right"),
            "mnn_c_image": ("tests/packaging/consumer/picture.c", "the values are right"),
            "mnn_c_onnx": ("tests/packaging/consumer/convert.c", "the net is right")}
# The other libraries that a library needs.
REQUIRED = {"mnn_c": [], "mnn_c_image": [], "mnn_c_onnx": ["libmnn_c.so.0"]}
HEADER, PC, CONFIG = "mnn_c.h", "mnn_c.pc", "mnn_c-config.cmake"


class Failed(Exception):
    pass


class Missing(Exception):
    pass


def expect(condition, sentence):
    if not condition:
        raise Failed(sentence)


def run(*command, cwd=None, **environment):
    """Runs the command and returns its output; an exit status other than 0 fails the test."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, "LC_ALL": "C", **environment})
    expect(done.returncode == 0, f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def tool(name):
    path = shutil.which(name)
    if not path:
        raise Missing(f"{name} is not installed")
    return path


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def only(paths, what):
    paths = list(paths)
    expect(len(paths) == 1, f"expected one {what}, found {[str(path) for path in paths]}")
    return paths[0]


def find(prefix, name):
    return only(prefix.rglob(name), f"{name} below {prefix}")


def needed(program):
    return re.findall(r"\(NEEDED\)[^\[]*\[([^\]]+)\]", run("readelf", "-d", "-W", program))


class Consumers:
    def __init__(self, arguments):
        self.cmake, self.cpack, self.cc = arguments.cmake, arguments.cpack, arguments.cc
        self.source, self.build, self.stage = arguments.source, arguments.build, arguments.stage
        self.prefix = self.stage / "prefix"
        self.packages = self.stage / "packages"
        self.digits = self.source / "examples/digits"

    # -- programs ------------------------------------------------------------------------------------------------

    def try_program(self, program, library, library_folder=None):
        environment = {"LD_LIBRARY_PATH": str(library_folder)} if library_folder else {}
        arguments = [self.digits] if library == "mnn_c" else []
        printed = run(program, *arguments, cwd="/", **environment)
        expect(PROGRAMS[library][1] in printed, f"{program} printed something else:\n{printed}")

    def by_cmake(self, prefix, folder, target="mnn_c"):
        """Builds a CMake project in C only; just `prefix` says where the package is."""
        library = target.removesuffix("_static")
        program = self.source / PROGRAMS[library][0]
        source = fresh(folder) / "source"
        source.mkdir()
        shutil.copy(program, source)
        shutil.copy(self.source / "tests/packaging/consumer/CMakeLists.txt", source)
        run(self.cmake, "-G", "Ninja", "-S", source, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DCMAKE_C_COMPILER={self.cc}", f"-DTARGET=mnn_c::{target}", f"-DSOURCE={program.name}",
            "-DCMAKE_BUILD_TYPE=Release")
        run(self.cmake, "--build", folder / "build")
        program = folder / "build/consumer"
        self.try_program(program, library)
        return program

    def flags(self, prefix, *options, package):
        return run(tool("pkg-config"), *options, package, PKG_CONFIG_PATH=str(find(prefix, PC).parent)).split()

    def compile(self, prefix, folder, library, *options, package=None, cc=()):
        """Builds the program of a library, with the flags of pkg-config alone."""
        folder.mkdir(parents=True, exist_ok=True)
        source = shutil.copy(self.source / PROGRAMS[library][0], folder)
        program = folder / library
        run(self.cc, *cc, source, "-o", program,
            *self.flags(prefix, *options, "--cflags", "--libs", package=package or library), cwd=folder)
        return program

    def by_pkg_config(self, prefix, folder):
        for library in PROGRAMS:
            program = self.compile(prefix, folder, library)
            libraries = needed(program)
            expect(libraries == [f"lib{library}.so.0", *REQUIRED[library], "libc.so.6"], f"{program} needs {libraries}")
            self.try_program(program, library, find(prefix, f"lib{library}.so.0").parent)

    def check_texts(self, prefix):
        """Checks that no installed file names a path of the machine that built it."""
        for path in [*find(prefix, PC).parent.iterdir(), *find(prefix, CONFIG).parent.iterdir()]:
            text = path.read_text()
            for place in (self.source, self.build, self.stage):
                expect(str(place) not in text, f"{path} names {place}")

    # -- the ways ------------------------------------------------------------------------------------------------

    def install(self):
        run(self.cmake, "--install", self.build, "--prefix", fresh(self.prefix))
        self.check_texts(self.prefix)
        for library, listing in (("mnn_c", "c_abi"), ("mnn_c_image", "image"), ("mnn_c_onnx", "onnx")):
            archive = find(self.prefix, f"lib{library}.a")
            symbols = run("nm", "--defined-only", "--extern-only", "--format=just-symbols", archive).split()
            names = {symbol for symbol in symbols if not symbol.endswith(":") and not symbol.endswith(".o")}
            listed = {line for line in (self.source / "tests" / listing / "exports.txt").read_text().split("\n")
                      if line.startswith("mnn_")}
            expect(names == listed, f"{archive} defines other names than the public ones: {sorted(names ^ listed)[:20]}")

    def cmake_package(self):
        for library in PROGRAMS:
            program = self.by_cmake(self.prefix, self.stage / "cmake" / library, library)
            expect(f"lib{library}.so.0" in needed(program), f"{program} does not need lib{library}.so.0")
        for version, wanted in ((VERSION.rpartition(".")[0], True), (VERSION, True), ("0.1", False), ("0.99", False), ("1.0", False)):
            folder = fresh(self.stage / "version")
            (folder / "CMakeLists.txt").write_text(
                f"cmake_minimum_required(VERSION 3.25)\nproject(version C)\nfind_package(mnn_c {version} CONFIG)\n"
                f'file(WRITE found "${{mnn_c_FOUND}}")\n')
            run(self.cmake, "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                f"-DCMAKE_C_COMPILER={self.cc}")
            found = (folder / "found").read_text() == "1"
            expect(found == wanted, f"find_package(mnn_c {version}) {'found' if found else 'did not find'} {VERSION}")

    def cmake_static(self):
        for library in PROGRAMS:
            program = self.by_cmake(self.prefix, self.stage / "cmake_static" / library, f"{library}_static")
            expect(not any("mnn_c" in name for name in needed(program)), f"{program} needs {needed(program)}")

    def pkg_config(self):
        self.by_pkg_config(self.prefix, self.stage / "pkg_config")
        for library in PROGRAMS:
            version = self.flags(self.prefix, "--modversion", package=library)
            expect(version == [VERSION], f"{library}.pc has the version {version}")

    def pkg_config_static(self):
        """Links a library statically, and then the whole program, including the C library."""
        folder = self.stage / "pkg_config_static"
        for library in PROGRAMS:
            program = self.compile(self.prefix, folder, library, package=f"{library}_static")
            libraries = needed(program)
            expect("libc.so.6" in libraries and not any("mnn_c" in name for name in libraries), f"{program} needs {libraries}")
            self.try_program(program, library)
            program = self.compile(self.prefix, folder, library, "--static", cc=["-static"])
            expect(not needed(program), f"{program} needs {needed(program)}")
            self.try_program(program, library)

    def tool_and_page(self):
        program = self.prefix / "bin/mnn"
        printed = run(program, "--version", cwd="/")
        expect(printed == f"mnn {VERSION}\n", f"{program} --version printed {printed!r}")
        page = find(self.prefix, "mnn.1")
        complaints = run(tool("groff"), "-man", "-Tutf8", "-ww", "-z", page)
        expect(not complaints, f"groff complains about {page}:\n{complaints}")
        text = page.read_text().replace("\\-", "-")
        commands = re.findall(r"^  (\w+) {2,}", run(program, "--help").split("Subcommands:")[1], flags=re.M)
        expect(len(commands) > 5, f"the tool's help lists only {commands}")
        for command in commands:
            expect(re.search(rf"\bmnn {command}\b", text), f"the manual page does not tell of 'mnn {command}'")
            for option in set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", run(program, command, "--help"), flags=re.M)):
                expect(re.search(rf"{option}(?![\w-])", text),
                       f"the manual page does not tell of {option} of 'mnn {command}'")

    def pack(self):
        for name in ("dpkg-shlibdeps", "dpkg-deb", "file"):
            tool(name)
        run(self.cpack, "--config", self.build / "CPackConfig.cmake", "-B", fresh(self.packages))

    def archive(self):
        path = only(self.packages.glob("*.tar.gz"), "archive")
        moved = fresh(self.stage / "archive") / "moved to here"
        with tarfile.open(path) as archive:
            archive.extractall(moved)
        prefix = only(moved.iterdir(), "folder in the archive")
        self.check_texts(prefix)
        for library in PROGRAMS:
            self.by_cmake(prefix, self.stage / "archive/cmake" / library, library)
            self.by_cmake(prefix, self.stage / "archive/cmake_static" / library, f"{library}_static")
        expect(run(prefix / "bin/mnn", "--version", cwd="/") == f"mnn {VERSION}\n", "the tool of the archive does not run")
        # pkg-config quotes blanks for a shell, not for this script.
        prefix = prefix.rename(self.stage / "archive" / prefix.name)
        self.by_pkg_config(prefix, self.stage / "archive/pkg_config")

    def deb(self):
        wanted = {  # file name in each package -> pattern
            "libmnn-c0": [rf"/lib.*/lib{library}\.so\.{version}" for library in PROGRAMS for version in ("0", re.escape(VERSION))],
            "libmnn-c-dev": [
                *(pattern for library in PROGRAMS for pattern in (
                    rf"/include/{library}\.h", rf"/lib.*/lib{library}\.so", rf"/lib.*/lib{library}\.a",
                    rf"/lib.*/pkgconfig/{library}\.pc", rf"/lib.*/pkgconfig/{library}_static\.pc")),
                r"/lib.*/cmake/mnn_c/mnn_c-config\.cmake"],
            "mnn-c-tools": [r"/bin/mnn", r"/share/man/man1/mnn\.1", r"/share/bash-completion/completions/mnn",
                            r"/share/fish/vendor_completions\.d/mnn\.fish", r"/share/zsh/[\w-]+/_mnn"],
        }
        depends = {"libmnn-c0": ["libc6 (>= "], "libmnn-c-dev": [f"libmnn-c0 (= {VERSION})"],
                   "mnn-c-tools": ["libc6 (>= ", "libstdc++6 (>= ", f"libmnn-c0 (= {VERSION})"]}
        if "libstdc++.so.6" in needed(self.build / "libmnn_c.so.0"):
            depends["libmnn-c0"] += ["libstdc++6 (>= ", "libgcc-s1 (>= "]
        root = fresh(self.stage / "deb")
        for package, patterns in wanted.items():
            path = only(self.packages.glob(f"{package}_{VERSION}_*.deb"), f"package {package}")
            information = run("dpkg-deb", "--info", path)
            fields = dict(re.findall(r"^ ([\w-]+): (.*)$", information, flags=re.M))
            expect(fields["Package"] == package and fields["Version"] == VERSION, f"{path}:\n{information}")
            for dependency in depends[package]:
                expect(dependency in fields.get("Depends", ""), f"{package} depends on {fields.get('Depends')}")
            contents = run("dpkg-deb", "--contents", path)
            for pattern in patterns:
                expect(re.search(rf" \./usr{pattern}( ->.*)?$", contents, flags=re.M),
                       f"{package} has no {pattern}:\n{contents}")
            expect(not re.search(r" \./(?!usr)\w", contents), f"{package} has files outside of /usr:\n{contents}")
            expect(("ldconfig" in information or " postinst " in information) == (package == "libmnn-c0"),
                   f"only the library's package runs ldconfig:\n{information}")
            run("dpkg-deb", "-x", path, root)
        self.by_pkg_config(root / "usr", self.stage / "deb_pkg_config")
        for library in PROGRAMS:
            self.by_cmake(root / "usr", self.stage / "deb_cmake" / library, library)
        expect(run(root / "usr/bin/mnn", "--version", cwd="/") == f"mnn {VERSION}\n", "the tool of the package does not run")

    def subproject(self):
        """Configures a parent project and compiles one source of the library in it. build_subproject.sh builds it."""
        for extra in ([], ["-DMNN_C_INSTALL=ON"]):
            folder = fresh(self.stage / "subproject")
            source = folder / "source"
            shutil.copytree(self.source / "tests/packaging/parent", source)
            shutil.copy(self.source / PROGRAMS["mnn_c"][0], source)
            build = folder / "build"
            run(self.cmake, "-G", "Ninja", "-S", source, "-B", build, f"-DMNN_C_SOURCE={self.source}",
                f"-DCMAKE_C_COMPILER={self.cc}", "-DMNN_C_VULKAN=OFF", "-DMNN_C_UNITY=OFF", *extra)
            self.check_report((build / "report.txt").read_text().split("\n"), installs=bool(extra))
            rules = (build / "mnn_c/cmake_install.cmake").read_text()
            expect(("mnn_c.h" in rules) == bool(extra), f"install rules with {extra}:\n{rules}")
        run(self.cmake, "--build", build, "--target", "mnn_c/CMakeFiles/mnn_c_core.dir/impl/base/error.cpp.o")

    @staticmethod
    def check_report(lines, installs):
        directories = r"|_?(GNUInstallDirs_LAST_)?CMAKE_INSTALL_\w+" if installs else ""
        allowed = {  # those of CMake itself come from project(), find_package(Threads) and GNUInstallDirs
            "target": r"mnn_c|mnn_c_\w+|parent\w*",
            "cache": r"MNN_C_\w+|mnn_c_(BINARY_DIR|SOURCE_DIR|IS_TOP_LEVEL)|CMAKE_HAVE_\w+|"
                     r"FIND_PACKAGE_MESSAGE_DETAILS_Threads" + directories,
            "variable": r"CMAKE_MATCH_\w+",  # of the report itself
        }
        seen = {}
        for line in filter(None, lines):
            kind, name = line.split()
            seen.setdefault(kind, []).append(name)
            expect(kind in allowed and re.fullmatch(allowed[kind], name), f"the subproject brought the {kind} {name}")
        expect("mnn_c" in seen.get("target", []), f"the report of the parent has no target mnn_c: {seen}")


WAYS = {"install": Consumers.install, "cmake": Consumers.cmake_package, "cmake_static": Consumers.cmake_static,
        "pkg_config": Consumers.pkg_config, "pkg_config_static": Consumers.pkg_config_static,
        "tool_and_page": Consumers.tool_and_page, "pack": Consumers.pack, "archive": Consumers.archive,
        "deb": Consumers.deb, "subproject": Consumers.subproject}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name in ("cmake", "cpack", "cc"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("source", "build", "stage"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    parser.add_argument("way", choices=WAYS)
    arguments = parser.parse_args()
    try:
        WAYS[arguments.way](Consumers(arguments))
    except Missing as missing:
        print(f"skipped: {missing}")
        return SKIPPED
    except Failed as failed:
        print(failed)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
