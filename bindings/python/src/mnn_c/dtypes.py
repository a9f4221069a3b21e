"""Element types and layouts in NumPy's terms."""

from __future__ import annotations

from typing import Any, Dict, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from .enums import ElementType, Format

Array = npt.NDArray[Any]

_TYPES: Dict[str, ElementType] = {
    "float32": ElementType.FLOAT32,
    "float64": ElementType.DOUBLE,
    "int32": ElementType.INT32,
    "uint8": ElementType.UINT8,
    "int16": ElementType.INT16,
    "int8": ElementType.INT8,
    "int64": ElementType.INT64,
    "bool": ElementType.BOOL,
    "uint16": ElementType.UINT16,
    "float16": ElementType.FLOAT16,
}
_BY_DTYPE: Dict["np.dtype[Any]", ElementType] = {np.dtype(name): kind for name, kind in _TYPES.items()}
_DTYPES: Dict[int, "np.dtype[Any]"] = {int(kind): np.dtype(name) for name, kind in _TYPES.items()}


def dtype_of(element_type: int) -> "np.dtype[Any]":
    """Returns NumPy's type for MNN_TYPE_*. NumPy has no bfloat16, so such tensors are read and written as float32."""
    if element_type == ElementType.BFLOAT16:
        return np.dtype(np.float32)
    try:
        return _DTYPES[element_type]
    except KeyError:
        raise TypeError(f"element type {element_type} has no counterpart in NumPy") from None


def type_of(dtype: Any) -> ElementType:
    """Returns MNN_TYPE_* for a type of NumPy that the library accepts and returns."""
    wanted = np.dtype(dtype)
    if not wanted.isnative:
        raise TypeError(f"the library has no elements in the byte order of {wanted.str}")
    try:
        return _TYPES[wanted.name]
    except KeyError:
        raise TypeError(f"the library has no elements of type {wanted.name}; it has {', '.join(_TYPES)}") from None


def elements(value: Any) -> Tuple[Array, ElementType]:
    """Returns an array whose bytes the library can read, without a copy of `value` where possible, and its type."""
    array: Array = np.asarray(value)
    kind = _BY_DTYPE.get(array.dtype)
    if kind is not None and array.flags.c_contiguous:
        return array, kind
    name = array.dtype.name
    if name not in _TYPES:
        if name == "uint32":
            array = array.astype(np.int64)
        elif name == "uint64":
            if array.size and int(array.max()) > np.iinfo(np.int64).max:
                raise OverflowError(f"{array.max()} of an array of uint64 does not fit int64")
            array = array.astype(np.int64)
        elif name == "bfloat16":  # the type of the package ml_dtypes
            array = array.astype(np.float32)
        else:
            raise TypeError(f"an array of type {name} cannot be an input; the types are {', '.join(_TYPES)}")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if not array.flags.c_contiguous:
        array = array.copy(order="C")
    return array, _TYPES[array.dtype.name]


def address(array: Array) -> int:
    """Returns the address of the elements of an array."""
    place: int = array.__array_interface__["data"][0]
    return place


def own_order(tensor_format: int) -> Format:
    """Returns the order in which a tensor's shape is written."""
    return Format.NHWC if tensor_format == Format.NHWC else Format.NCHW


def shape_in(shape: Sequence[int], own: int, wanted: int) -> Tuple[int, ...]:
    """Returns the shape of an array in the layout `wanted` for a tensor of that shape in its own order."""
    shape, own = tuple(shape), own_order(own)
    if len(shape) < 3 or wanted == own:
        return shape
    batch, channel, space = (
        (shape[0], shape[-1], shape[1:-1]) if own == Format.NHWC else (shape[0], shape[1], shape[2:])
    )
    if wanted == Format.NC4HW4:
        return ((channel + 3) // 4, batch, *space, 4)
    return (batch, *space, channel) if wanted == Format.NHWC else (batch, channel, *space)
