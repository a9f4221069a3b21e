"""Finds and opens libmnn_c: that of MNN_C_LIBRARY, else the one inside of the package, else the system's."""

from __future__ import annotations

import ctypes
import os
import pathlib
from typing import Any, List

from ._functions import FUNCTIONS

NAME = "libmnn_c.so.0"


def candidates() -> List[str]:
    """Where the library is looked for, in this order."""
    chosen = os.environ.get("MNN_C_LIBRARY")
    if chosen:
        return [chosen]
    inside = pathlib.Path(__file__).parent / "lib" / NAME
    return [str(inside)] if inside.exists() else [NAME]


def load() -> Any:
    """Opens the library and declares its functions."""
    path = candidates()[0]
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"libmnn_c cannot be opened as '{path}': {error}. Install a wheel that contains it, put it where the"
            " system finds libraries, or name its file in the environment variable MNN_C_LIBRARY"
        ) from error
    missing = [name for name in FUNCTIONS if not hasattr(library, name)]
    if missing:
        raise ImportError(
            f"'{path}' is another version than this package was made for: it lacks {', '.join(missing[:5])}"
        )
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


C: Any = load()
