"""The command `mnn`: the tool inside of the wheel."""

from __future__ import annotations

import os
import pathlib
import sys
from typing import NoReturn


def path() -> pathlib.Path:
    """Where the tool of this package lies."""
    return pathlib.Path(__file__).parent / "bin" / "mnn"


def main() -> NoReturn:
    """Becomes the tool."""
    tool = path()
    if not tool.exists():
        sys.exit("mnn: this installation of mnn_c has no tool; wheels have it, and the library's packages")
    os.execv(tool, [str(tool), *sys.argv[1:]])
