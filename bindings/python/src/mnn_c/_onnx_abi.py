"""The structs and functions of mnn_c_onnx.h, and the library that has them. tests/test_onnx.py compares them with the header."""

from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_int32,
    c_int64,
    c_size_t,
    c_uint64,
    c_void_p,
)
from typing import Any, Dict, List, Tuple

from . import _library

NAME = "libmnn_c_onnx.so.0"

Progress = CFUNCTYPE(c_int32, c_void_p, c_uint64, c_uint64)


class Shape(Structure):
    _fields_ = [("input", c_char_p), ("dims", POINTER(c_int32)), ("rank", c_size_t)]


class Extent(Structure):
    _fields_ = [("name", c_char_p), ("extent", c_int32)]


class Options(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("weights", c_int32),
        ("weight_block", c_int32),
        ("shapes", POINTER(Shape)),
        ("shape_count", c_size_t),
        ("extents", POINTER(Extent)),
        ("extent_count", c_size_t),
        ("outputs", POINTER(c_char_p)),
        ("output_count", c_size_t),
        ("data_folder", c_char_p),
        ("follow_links", c_int32),
        ("weights_beside", c_int32),
        ("max_memory_bytes", c_uint64),
        ("cancel", c_void_p),
        ("progress", Progress),
        ("progress_user_data", c_void_p),
    ]


class Report(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("nodes", c_int64),
        ("functions", c_int64),
        ("operators", c_int64),
        ("folded", c_int64),
        ("problems", c_size_t),
        ("notes", c_size_t),
    ]


class Problem(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("node", c_char_p),
        ("domain", c_char_p),
        ("op_type", c_char_p),
        ("reason", c_char_p),
        ("opset", c_int64),
        ("status", c_int32),
        ("reserved", c_int32),
    ]


FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "mnn_onnx_options_init": (c_int32, [POINTER(Options), c_size_t]),
    "mnn_onnx_last_error": (c_char_p, []),
    "mnn_onnx_convert_file": (c_int32, [c_char_p, POINTER(Options), POINTER(c_void_p)]),
    "mnn_onnx_convert_memory": (c_int32, [c_void_p, c_size_t, POINTER(Options), POINTER(c_void_p)]),
    "mnn_onnx_result_destroy": (c_int32, [POINTER(c_void_p)]),
    "mnn_onnx_result_report": (c_int32, [c_void_p, POINTER(Report)]),
    "mnn_onnx_result_problem": (c_int32, [c_void_p, c_size_t, POINTER(Problem)]),
    "mnn_onnx_result_note": (c_int32, [c_void_p, c_size_t, POINTER(c_char_p)]),
    "mnn_onnx_result_data": (c_int32, [c_void_p, POINTER(c_void_p), POINTER(c_size_t)]),
    "mnn_onnx_result_weights": (c_int32, [c_void_p, POINTER(c_void_p), POINTER(c_size_t)]),
    "mnn_onnx_result_save": (c_int32, [c_void_p, c_char_p]),
}


def path() -> str:
    """The file: that of MNN_C_ONNX_LIBRARY, else the one beside libmnn_c, else the system's."""
    chosen = os.environ.get("MNN_C_ONNX_LIBRARY")
    if chosen:
        return chosen
    beside = pathlib.Path(_library.candidates()[0]).parent / NAME
    return str(beside) if beside.exists() else NAME


def load() -> Any:
    """Opens the library and declares its functions."""
    try:
        library = ctypes.CDLL(path())
    except OSError as error:
        raise ImportError(
            f"libmnn_c_onnx cannot be opened as '{path()}': {error}. Install a wheel that contains it, put it beside"
            " libmnn_c, or name its file in the environment variable MNN_C_ONNX_LIBRARY"
        ) from error
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"'{path()}' is another version than this package was made for: it lacks {name}")
        function.restype = result
        function.argtypes = arguments
    return library
