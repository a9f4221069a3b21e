#!/usr/bin/env python3
"""Builds the wheel, with the libraries and the tool inside, and the sdist.

    cmake --preset release -DMNN_C_STATIC_LIBSTDCXX=ON && cmake --build --preset release
    cmake --install build/release --prefix STAGE
    python3 bindings/python/build_wheel.py --prefix STAGE --output dist

Needs pip, setuptools and wheel, no network. Where auditwheel is installed the wheel gets the manylinux tag that it
names; without it the wheel is tagged for this system only (linux_x86_64). --platform names the system of libraries that
were compiled for another one, such as musllinux_1_2_aarch64, or win_amd64 with the prefix that the zip file of a build
for Windows has. Libraries that the tool needs and that no manylinux system has are put beside the libraries; where the
tool looks for them elsewhere, patchelf changes its search path. The licences of all compiled-in libraries come from the
installed THIRD-PARTY. MNN_C_MAINTAINER and MNN_C_REPOSITORY in the environment go into the metadata.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
NAME, IMAGE, ONNX = "libmnn_c.so.0", "libmnn_c_image.so.0", "libmnn_c_onnx.so.0"
OF_WINDOWS = ("mnn_c.dll", "mnn_c_image.dll", "mnn_c_onnx.dll", "mnn.exe")
# The libraries that each manylinux system has, so they need not be in the wheel.
SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so\.\d+|ld-linux.*|libc\.so")  # the last one is musl
PATH = "$ORIGIN/../lib"  # where the tool looks for libraries

SETUP = """
from setuptools import Distribution, setup
try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel


class Binary(Distribution):
    def has_ext_modules(self):  # so that files are placed like those of a platform
        return True


class Wheel(bdist_wheel):
    def get_tag(self):
        return "py3", "none", "{platform}"


setup(distclass=Binary, cmdclass={{"bdist_wheel": Wheel}})
"""


def run(*command, **options):
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    if result.returncode:
        sys.exit(f"build_wheel.py: {' '.join(map(str, command))} failed:\n{result.stderr.decode()}")
    return result.stdout.decode()


def needed(binary):
    """Returns the shared libraries beside those of this project that a binary names, with the files that the loader
    uses."""
    names = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", binary))
    names = [name for name in names if name not in (NAME, IMAGE, ONNX) and not SYSTEM.fullmatch(name)]
    if not names:
        return {}
    found = dict(re.findall(r"(\S+) => (\S+)", run("ldd", binary)))
    return {name: found.get(name) for name in names}


def copy_notices(prefix, stage):
    """Writes the licences of the compiled-in libraries, with the versions of the installed build; returns their
    text."""
    notices = prefix / "share" / "doc" / "mnn_c" / "THIRD-PARTY"
    if not notices.exists():
        sys.exit(f"build_wheel.py: there is no {notices}; install the library below {prefix} first")
    shutil.copy(notices, stage / notices.name)
    return notices.read_text()


def name_publisher(project):
    """Puts MNN_C_MAINTAINER ("NAME <ADDRESS>") and MNN_C_REPOSITORY (an address) into pyproject.toml."""
    text = project.read_text()
    maintainer, repository = os.environ.get("MNN_C_MAINTAINER"), os.environ.get("MNN_C_REPOSITORY")
    if maintainer:
        match = re.fullmatch(r"(.+?)(?: <(.+@.+)>)?", maintainer)
        fields = {"name": match.group(1), **({"email": match.group(2)} if match.group(2) else {})}
        author = ", ".join(f"{key} = {json.dumps(value)}" for key, value in fields.items())
        text = re.sub(r"^authors = .*$", lambda _: f"authors = [{{ {author} }}]", text, flags=re.M)
    if repository:
        text += f"\n[project.urls]\nRepository = {json.dumps(repository)}\n"
    project.write_text(text)


def copy_windows_binaries(prefix, package):
    """Copies libraries and tool into one folder of the package, where Windows finds the libraries that they need."""
    (package / "lib").mkdir()
    copied = []
    for name in OF_WINDOWS:
        if not (prefix / "bin" / name).exists():
            sys.exit(f"build_wheel.py: there is no {name} in {prefix / 'bin'}")
        copied.append(pathlib.Path(shutil.copy(prefix / "bin" / name, package / "lib")))
    return copied


def copy_binaries(prefix, package, notices):
    """Copies library, tool and the libraries that the tool needs into the package; returns the copies."""
    (package / "lib").mkdir()
    (package / "bin").mkdir()
    copied = []
    for name in (NAME, IMAGE, ONNX):
        libraries = [path for path in prefix.glob("lib*/**/" + name)]
        if not libraries:
            sys.exit(f"build_wheel.py: there is no {name} below {prefix}; install the library there first")
        shutil.copy(libraries[0], package / "lib" / name)
        copied.append(package / "lib" / name)
    tool = prefix / "bin" / "mnn"
    if not tool.exists():
        print("build_wheel.py: the wheel lacks the tool, which is not in", tool)
        return copied
    inside = package / "bin" / "mnn"
    shutil.copy(tool, inside)
    for name, path in needed(tool).items():
        if path is None or not os.path.exists(path):
            sys.exit(f"build_wheel.py: the tool needs {name}, which the loader does not find")
        if name.split(".")[0] not in notices:
            sys.exit(f"build_wheel.py: the tool needs {name}, of which THIRD-PARTY says nothing")
        shutil.copy(path, package / "lib" / name)
        copied.append(package / "lib" / name)
    if f"[{PATH}]" not in run("readelf", "-d", inside):
        run("patchelf", "--set-rpath", PATH, inside)
    return copied + [inside]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=pathlib.Path, required=True, help="where the library is installed")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("dist"), help="folder of the results")
    parser.add_argument("--platform", help="the tag of the system that the library was compiled for")
    parser.add_argument("--strip", default="strip", help="the program strip for that system")
    arguments = parser.parse_args()
    output = arguments.output.resolve()
    output.mkdir(parents=True, exist_ok=True)

    with tempfile.TemporaryDirectory() as folder:
        stage = pathlib.Path(folder, "stage")
        ignored = shutil.ignore_patterns("__pycache__", "*.egg-info", "dist", "build", "lib", "bin")
        shutil.copytree(FOLDER, stage, ignore=ignored)
        prefix = arguments.prefix.resolve()
        notices = copy_notices(prefix, stage)
        name_publisher(stage / "pyproject.toml")
        run(sys.executable, "-c", "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])",
            output, cwd=stage)
        windows = (prefix / "bin" / OF_WINDOWS[0]).exists()
        package = stage / "src" / "mnn_c"
        files = copy_windows_binaries(prefix, package) if windows else copy_binaries(prefix, package, notices)
        for path in files:
            run(arguments.strip, "--strip-unneeded", path)
            path.chmod(0o755)
        platform = arguments.platform or sysconfig.get_platform().replace("-", "_")
        (stage / "setup.py").write_text(SETUP.format(platform=platform))
        run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "-w", folder, stage)
        wheel = next(pathlib.Path(folder).glob("*.whl"))
        if arguments.platform:
            pass  # auditwheel would look for the libraries of this system
        elif shutil.which("auditwheel"):
            shown = run("auditwheel", "show", wheel)
            tags = re.findall(r'"(manylinux_\w+)"', shown)
            if tags:
                name = run(sys.executable, "-m", "wheel", "tags", "--platform-tag", tags[0], "--remove", wheel)
                wheel = pathlib.Path(folder, name.strip().splitlines()[-1])
        else:
            print("build_wheel.py: there is no auditwheel, so the wheel is for systems like this one")
        shutil.copy(wheel, output)
    for path in sorted(output.iterdir()):
        print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
