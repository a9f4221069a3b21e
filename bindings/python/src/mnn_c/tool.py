"""The command `mnn`: the tool in the wheel."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import NoReturn


def path() -> pathlib.Path:
    """Returns the path of this package's tool."""
    return pathlib.Path(__file__).parent / "bin" / "mnn"


def main() -> NoReturn:
    """Replaces this process by the tool."""
    tool = path()
    if not tool.exists():
        sys.exit("mnn: this installation of mnn_c has no tool; wheels have it, and the library's packages")
    os.execv(tool, [str(tool), *sys.argv[1:]])
