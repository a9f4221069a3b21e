"""Pictures as inputs of nets, with NumPy: decoded, cropped, resized, and converted into the values of tensors.

    from mnn_c import image

    photo = image.read("cat.jpg")                                       # (height, width, 3), uint8, RGB
    x = image.to_input(photo, 224, 224, mean=127.5, scale=1 / 127.5)    # (1, 3, 224, 224), float32
    scores = session(x)

A part of a picture is a slice: `photo[y:y + h, x:x + w]`. Functions that take a picture read slices where they lie, as
long as the pixels of a row follow one another. This module opens libmnn_c_image, which a wheel contains.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _image_abi
from ._failure import error_of
from ._image_abi import BoxColumn, BoxUnit, Filter, PixelFormat, Wrap
from ._library import load_beside
from .enums import ElementType, Format
from .errors import Error

__all__ = [
    "BoxColumn", "BoxUnit", "Filter", "ImageInfo", "PixelFormat", "Wrap", "boxes", "convert", "decode", "encode_png",
    "info", "read", "resize", "resize_matrix", "to_input",
]  # fmt: skip

Pixels = npt.NDArray[np.uint8]
Factors = Union[float, Sequence[float]]

_I: Any = load_beside("image", _image_abi.FUNCTIONS)


@dataclass(frozen=True)
class ImageInfo:
    """A description of the picture in a file."""

    format: PixelFormat
    width: int
    height: int


def _check(status: int) -> None:
    if status:
        raise error_of(status, _I.mnn_image_last_error())


def _described(format: int, width: int, height: int) -> _image_abi.Image:
    image = _image_abi.Image()
    _check(_I.mnn_image_init(ctypes.byref(image), ctypes.sizeof(image)))
    image.format, image.width, image.height = format, width, height
    return image


def _view(pixels: Pixels, format: PixelFormat) -> Tuple[_image_abi.Image, Pixels]:
    """Returns a picture over the memory of an array, which must live as long, and that array: a copy where `pixels`
    cannot be used in place."""
    array = np.asarray(pixels)
    if array.dtype != np.uint8:
        raise TypeError(f"pixels are uint8, these are {array.dtype}")
    if format.channels == 0:
        raise ValueError(f"{format.name} pictures are given to convert(), with their size")
    if array.ndim == 2 and format == PixelFormat.GRAY:
        array = array[..., None]
    if array.ndim != 3 or array.shape[2] != format.channels:
        raise ValueError(f"a {format.name} picture has the shape (height, width, {format.channels}), not {array.shape}")
    if array.strides[1:] != (format.channels, 1) or array.strides[0] < array.shape[1] * format.channels:
        array = np.ascontiguousarray(array)
    image = _described(format, array.shape[1], array.shape[0])
    image.stride = array.strides[0] if array.shape[0] > 1 else 0
    image.pixels = array.ctypes.data
    image.bytes = (array.shape[0] - 1) * array.strides[0] + array.shape[1] * format.channels
    return image, array


def _format_of(pixels: Pixels) -> PixelFormat:
    channels = np.shape(pixels)[2] if np.ndim(pixels) == 3 else 1
    found = {1: PixelFormat.GRAY, 3: PixelFormat.RGB, 4: PixelFormat.RGBA}.get(channels)
    if found is None:
        raise ValueError(f"a picture has 1, 3 or 4 channels, this one {channels}")
    return found


def info(file: bytes) -> ImageInfo:
    """Reads the description of the picture from the bytes of a file."""
    image = _described(0, 0, 0)
    _check(_I.mnn_image_info(file, len(file), ctypes.byref(image)))
    return ImageInfo(PixelFormat(image.format), image.width, image.height)


def decode(file: bytes, format: PixelFormat = PixelFormat.RGB) -> Pixels:
    """Decodes the bytes of a PNG, JPEG, BMP, GIF, TGA, PGM or PPM file to (height, width, channels)."""
    found = info(file)
    format = PixelFormat(format)
    pixels: Pixels = np.empty((found.height, found.width, max(format.channels, 1)), np.uint8)
    image = _described(format, found.width, found.height)
    image.pixels, image.bytes = pixels.ctypes.data, pixels.nbytes
    _check(_I.mnn_image_decode(file, len(file), ctypes.byref(image)))
    return pixels


def read(path: Union[str, "os.PathLike[str]"], format: PixelFormat = PixelFormat.RGB) -> Pixels:
    """Decodes a file. Errors name it."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        return decode(content, format)
    except Error as error:
        raise type(error)(f"'{os.fspath(path)}': {error.sentence}") from None


def encode_png(pixels: Pixels, format: Optional[PixelFormat] = None) -> bytes:
    """Returns the bytes of a PNG file. Three channels are RGB and four RGBA unless `format` says otherwise."""
    image, kept = _view(pixels, _format_of(pixels) if format is None else PixelFormat(format))
    needed = ctypes.c_size_t()
    _check(_I.mnn_image_encode_png(ctypes.byref(image), None, 0, ctypes.byref(needed)))
    file = ctypes.create_string_buffer(needed.value)
    _check(_I.mnn_image_encode_png(ctypes.byref(image), file, len(file), ctypes.byref(needed)))
    del kept
    return file.raw


def resize(pixels: Pixels, width: int, height: int) -> Pixels:
    """Returns the picture with other extents; every pixel contributes."""
    format = _format_of(pixels)
    source, kept = _view(pixels, format)
    target = _described(format, width, height)
    needed = ctypes.c_size_t()
    _check(_I.mnn_image_byte_size(ctypes.byref(target), ctypes.byref(needed)))
    result: Pixels = np.empty((height, width) + np.shape(pixels)[2:], np.uint8)
    target.pixels, target.bytes = result.ctypes.data, result.nbytes
    _check(_I.mnn_image_resize(ctypes.byref(source), ctypes.byref(target)))
    del kept
    return result


def resize_matrix(source: Tuple[int, int], target: Tuple[int, int]) -> Tuple[float, ...]:
    """Returns the matrix for convert() that resizes from one (width, height) to another, with equal centres."""
    x, y = source[0] / target[0], source[1] / target[1]
    return x, 0.0, (x - 1) / 2, 0.0, y, (y - 1) / 2


def _channels(values: Factors, name: str, count: int) -> Sequence[float]:
    given = list(np.atleast_1d(np.asarray(values, np.float32)))
    if len(given) not in (1, count):
        raise ValueError(f"{name} has {len(given)} values, the result has {count} channels")
    return (given * 4)[:4] if len(given) == 1 else given + [0.0] * (4 - count)


def convert(
    pixels: Pixels,
    width: Optional[int] = None,
    height: Optional[int] = None,
    *,
    source: Optional[PixelFormat] = None,
    source_size: Optional[Tuple[int, int]] = None,
    format: PixelFormat = PixelFormat.RGB,
    filter: Filter = Filter.NEAREST,
    wrap: Wrap = Wrap.CLAMP,
    padding: int = 0,
    matrix: Optional[Sequence[float]] = None,
    mean: Factors = 0.0,
    scale: Factors = 1.0,
    layout: Format = Format.NCHW,
    dtype: npt.DTypeLike = np.float32,
) -> npt.NDArray[Any]:
    """The values of a picture, with the pixels of the official runtime's ImageProcess: (channels, height, width), or
    (height, width, channels) with layout NHWC.

    pixels: (height, width, channels); for YUV formats all bytes, and `source_size` is their (width, height).
    matrix: six numbers that map (x, y, 1) of a pixel of the result to its place in the picture; none: the same place.
    mean, scale: a number, or one for each channel of the result: (value - mean) * scale. Not for dtype uint8.
    """
    format = PixelFormat(format)
    kind = _format_of(pixels) if source is None else PixelFormat(source)
    if kind.channels:
        image, kept = _view(pixels, kind)
    else:
        if source_size is None:
            raise ValueError(f"a {kind.name} picture needs source_size=(width, height)")
        kept = np.ascontiguousarray(pixels)
        if kept.dtype != np.uint8:
            raise TypeError(f"pixels are uint8, these are {kept.dtype}")
        image = _described(kind, *source_size)
        image.pixels, image.bytes = kept.ctypes.data, kept.nbytes

    options = _image_abi.ImageOptions()
    _check(_I.mnn_image_options_init(ctypes.byref(options), ctypes.sizeof(options)))
    options.filter, options.wrap, options.padding = filter, wrap, padding
    if matrix is not None:
        if len(matrix) != 6:
            raise ValueError(f"the matrix has {len(matrix)} numbers, 6 are needed")
        options.has_matrix = 1
        options.matrix[:] = [float(value) for value in matrix]
    options.mean[:] = _channels(mean, "mean", format.channels)
    options.scale[:] = _channels(scale, "scale", format.channels)
    options.has_scale = 1

    values = _image_abi.ImageValues()
    _check(_I.mnn_image_values_init(ctypes.byref(values), ctypes.sizeof(values)))
    values.format, values.layout = format, layout
    values.width = image.width if width is None else width
    values.height = image.height if height is None else height
    element = np.dtype(dtype)
    if element not in (np.dtype(np.float32), np.dtype(np.uint8)):
        raise TypeError(f"values are float32 or uint8, not {element}")
    values.type = ElementType.UINT8 if element == np.uint8 else ElementType.FLOAT32
    if not (0 < values.width <= _image_abi.MAX_EXTENT and 0 < values.height <= _image_abi.MAX_EXTENT):
        raise ValueError(f"the result is {values.width} x {values.height}; extents are 1 to {_image_abi.MAX_EXTENT}")
    shape = (values.height, values.width, format.channels)
    result = np.empty((shape[2], *shape[:2]) if layout == Format.NCHW else shape, element)
    values.data, values.bytes = result.ctypes.data, result.nbytes
    _check(_I.mnn_image_convert(ctypes.byref(options), ctypes.byref(image), ctypes.byref(values)))
    del kept
    return result


def to_input(
    pixels: Pixels,
    width: int,
    height: int,
    *,
    format: PixelFormat = PixelFormat.RGB,
    mean: Factors = 0.0,
    scale: Factors = 1.0,
    layout: Format = Format.NCHW,
) -> npt.NDArray[np.float32]:
    """A picture (RGB, RGBA or gray) as the input of a net, as the command line tool makes it: resized, its colours in
    the order of `format`, (value - mean) * scale, with a batch of one."""
    resized = resize(pixels, width, height)
    values: npt.NDArray[np.float32] = convert(resized, format=format, mean=mean, scale=scale, layout=layout)
    return values[None]


def boxes(
    rows: npt.ArrayLike,
    columns: Sequence[BoxColumn],
    *,
    input_size: Tuple[int, int],
    picture_size: Tuple[int, int],
    scores: Optional[npt.ArrayLike] = None,
    classes: Optional[npt.ArrayLike] = None,
    unit: BoxUnit = BoxUnit.GUESSED,
    part: Optional[Tuple[int, int, int, int]] = None,
    min_score: float = 0.5,
    overlap: Optional[float] = None,
    background: Optional[int] = None,
) -> npt.NDArray[np.float64]:
    """The boxes that a detector found in one picture, the best one first: (boxes, 6), the edges x1, y1, x2, y2 in
    pixels of the picture, the score, and the class, which is -1 where it is not known.

    rows: the output with a row, or a column, of numbers for each box; `columns` says what they are.
    scores, classes: outputs with a number for each box; scores also with one for each class of each box.
    input_size, picture_size: (width, height). part: (left, top, width, height) of the picture in the input; None: all.
    overlap: a box is left out that shares more than this part with a better one of its class; None: 0.45 where there is
    a score for each class, else none is left out. background: the class that means no object.
    """
    detector = _image_abi.ImageDetector()
    _check(_I.mnn_image_detector_init(ctypes.byref(detector), ctypes.sizeof(detector)))
    if len(columns) > len(detector.columns):
        raise ValueError(f"there are {len(columns)} columns; at most {len(detector.columns)} are allowed")
    detector.columns[: len(columns)] = columns
    detector.column_count, detector.unit = len(columns), unit
    detector.input_width, detector.input_height = input_size
    detector.picture_width, detector.picture_height = picture_size
    if part is not None:
        detector.left, detector.top, detector.width, detector.height = part
    if background is not None:
        detector.has_background, detector.background = 1, background
    if overlap is not None:
        detector.has_overlap, detector.overlap = 1, overlap
    detector.min_score = min_score
    kept: List[Any] = []
    pointers: List[Any] = []
    for name, given in (("boxes", rows), ("scores", scores), ("classes", classes)):
        if given is None:
            pointers.append(None)
            continue
        array = np.ascontiguousarray(given, np.float32)  # has at least one extent
        if array.ndim > len(detector.boxes_dims):
            raise ValueError(f"the {name} have {array.ndim} extents; at most {len(detector.boxes_dims)} are allowed")
        getattr(detector, f"{name}_dims")[: array.ndim] = array.shape
        setattr(detector, f"{name}_rank", array.ndim)
        kept.append(array)
        pointers.append(array.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
    found = np.empty((_image_abi.MAX_BOXES, 6), np.float64)
    needed = ctypes.c_size_t()
    buffer = found.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    _check(_I.mnn_image_boxes(ctypes.byref(detector), *pointers, buffer, found.size, ctypes.byref(needed)))
    del kept
    return found[: needed.value // 6].copy()
