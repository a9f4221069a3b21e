"""Finds and opens libmnn_c and the libraries beside it: the file that an environment variable names, else the one
inside of the package, else the system's."""

from __future__ import annotations

import ctypes
import os
import pathlib
import sys
from typing import Any, Dict, List, Tuple

from ._functions import FUNCTIONS


def file_of(part: str = "") -> str:
    """Returns the name of the file of libmnn_c, or of the library beside it that is called `part`, on this system."""
    name = f"mnn_c_{part}" if part else "mnn_c"
    return f"{name}.dll" if sys.platform == "win32" else f"lib{name}.so.0"


NAME = file_of()


def candidates() -> List[str]:
    """Returns the places to search for libmnn_c, in this order."""
    chosen = os.environ.get("MNN_C_LIBRARY")
    if chosen:
        return [chosen]
    inside = pathlib.Path(__file__).parent / "lib" / NAME
    return [str(inside)] if inside.exists() else [NAME]


def load(path: str, variable: str, functions: Dict[str, Tuple[Any, List[Any]]]) -> Any:
    """Opens a library and declares its functions."""
    name = pathlib.Path(path).name.partition(".")[0]
    # Windows searches the folder of an absolute path for the libraries that the file needs, too.
    path = os.path.abspath(path) if os.path.dirname(path) else path
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"{name} cannot be opened as '{path}': {error}. Install a wheel that contains it, put it where the"
            f" system finds libraries, or name its file in the environment variable {variable}"
        ) from error
    missing = [function for function in functions if not hasattr(library, function)]
    if missing:
        raise ImportError(
            f"'{path}' is another version than this package was made for: it lacks {', '.join(missing[:5])}"
        )
    for function, (result, arguments) in functions.items():
        declared = getattr(library, function)
        declared.restype = result
        declared.argtypes = arguments
    return library


def load_beside(part: str, functions: Dict[str, Tuple[Any, List[Any]]]) -> Any:
    """Opens libmnn_c_image or libmnn_c_onnx: the file of its variable, else the one beside libmnn_c, else the
    system's."""
    variable, name = f"MNN_C_{part.upper()}_LIBRARY", file_of(part)
    beside = pathlib.Path(candidates()[0]).parent / name
    chosen = os.environ.get(variable) or (str(beside) if beside.exists() else name)
    return load(chosen, variable, functions)


C: Any = load(candidates()[0], "MNN_C_LIBRARY", FUNCTIONS)
