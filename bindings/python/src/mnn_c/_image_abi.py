"""The structs and functions of mnn_c_image.h, and the library that has them. tests/test_image.py compares them with the header."""

from __future__ import annotations

import ctypes
import os
import pathlib
from ctypes import POINTER, Structure, c_char_p, c_float, c_int32, c_size_t, c_void_p
from typing import Any, Dict, List, Tuple

from . import _library

NAME = "libmnn_c_image.so.0"
MAX_EXTENT = 65535
MAX_PIXELS = 67108864


class Image(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("format", c_int32),
        ("width", c_int32),
        ("height", c_int32),
        ("reserved", c_int32),
        ("stride", c_size_t),
        ("pixels", c_void_p),
        ("bytes", c_size_t),
    ]


class ImageOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("filter", c_int32),
        ("wrap", c_int32),
        ("padding", c_int32),
        ("has_matrix", c_int32),
        ("matrix", c_float * 6),
        ("mean", c_float * 4),
        ("scale", c_float * 4),
        ("has_scale", c_int32),
        ("reserved", c_int32),
    ]


class ImageValues(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("format", c_int32),
        ("width", c_int32),
        ("height", c_int32),
        ("type", c_int32),
        ("layout", c_int32),
        ("reserved", c_int32),
        ("data", c_void_p),
        ("bytes", c_size_t),
    ]


FUNCTIONS: Dict[str, Tuple[Any, List[Any]]] = {
    "mnn_image_init": (c_int32, [POINTER(Image), c_size_t]),
    "mnn_image_byte_size": (c_int32, [POINTER(Image), POINTER(c_size_t)]),
    "mnn_image_last_error": (c_char_p, []),
    "mnn_image_info": (c_int32, [c_void_p, c_size_t, POINTER(Image)]),
    "mnn_image_decode": (c_int32, [c_void_p, c_size_t, POINTER(Image)]),
    "mnn_image_encode_png": (c_int32, [POINTER(Image), c_void_p, c_size_t, POINTER(c_size_t)]),
    "mnn_image_crop": (c_int32, [POINTER(Image), c_int32, c_int32, c_int32, c_int32, POINTER(Image)]),
    "mnn_image_resize": (c_int32, [POINTER(Image), POINTER(Image)]),
    "mnn_image_options_init": (c_int32, [POINTER(ImageOptions), c_size_t]),
    "mnn_image_values_init": (c_int32, [POINTER(ImageValues), c_size_t]),
    "mnn_image_convert": (c_int32, [POINTER(ImageOptions), POINTER(Image), POINTER(ImageValues)]),
}


def path() -> str:
    """The file: that of MNN_C_IMAGE_LIBRARY, else the one beside libmnn_c, else the system's."""
    chosen = os.environ.get("MNN_C_IMAGE_LIBRARY")
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
            f"libmnn_c_image cannot be opened as '{path()}': {error}. Install a wheel that contains it, put it beside"
            " libmnn_c, or name its file in the environment variable MNN_C_IMAGE_LIBRARY"
        ) from error
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"'{path()}' is another version than this package was made for: it lacks {name}")
        function.restype = result
        function.argtypes = arguments
    return library
