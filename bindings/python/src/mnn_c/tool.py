"""The command `mnn`: the tool in the wheel."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import NoReturn


def path() -> pathlib.Path:
    """Returns the path of this package's tool."""
    inside = pathlib.Path(__file__).parent
    # Windows searches for the libraries of a program beside it.
    return inside / "lib" / "mnn.exe" if sys.platform == "win32" else inside / "bin" / "mnn"


def main() -> NoReturn:
    """Replaces this process by the tool. Windows cannot do that: there, this process waits for the tool."""
    tool = path()
    if not tool.exists():
        sys.exit("mnn: this installation of mnn_c has no tool; wheels have it, and the library's packages")
    command = [str(tool), *sys.argv[1:]]
    if sys.platform == "win32":
        sys.exit(subprocess.run(command).returncode)
    os.execv(tool, command)
