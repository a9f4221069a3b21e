"""Short forms of calls that repeat: texts, numbers, shapes and buffers of the library."""

from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_char_p, c_double, c_int32, c_size_t, c_uint64, c_void_p
from typing import Any, Callable, List, Optional, Sequence, Tuple, Type, TypeVar, Union

from ._abi import MAX_RANK
from ._failure import check

Struct = TypeVar("Struct", bound=ctypes.Structure)


def encode(text: str, what: str) -> bytes:
    """Returns UTF-8 for the library. Names of a model that are not UTF-8 get the bytes that decode() read."""
    data = text.encode("utf-8", "surrogateescape")
    if b"\0" in data:
        raise ValueError(f"{what} contains a zero byte: {text!r}")
    return data


def absolute(path: Union[str, "os.PathLike[str]"]) -> str:
    """The absolute path of a file; os.path.abspath() cuts it at a zero byte in some versions of Python."""
    text = os.fspath(path)
    if "\0" in text:
        raise ValueError(f"path contains a zero byte: {text!r}")
    return os.path.abspath(text)


def decode(data: Optional[bytes]) -> str:
    return "" if data is None else data.decode("utf-8", "surrogateescape")


def decode_optional(data: Optional[bytes]) -> Optional[str]:
    return None if data is None else decode(data)


def text(function: Callable[..., int], *arguments: Any) -> str:
    value = c_char_p()
    check(function(*arguments, byref(value)))
    return decode(value.value)


def size(function: Callable[..., int], *arguments: Any) -> int:
    value = c_size_t()
    check(function(*arguments, byref(value)))
    return value.value


def number64(function: Callable[..., int], *arguments: Any) -> int:
    value = c_uint64()
    check(function(*arguments, byref(value)))
    return value.value


def number(function: Callable[..., int], *arguments: Any) -> int:
    value = c_int32()
    check(function(*arguments, byref(value)))
    return value.value


def truth(function: Callable[..., int], *arguments: Any) -> bool:
    value = ctypes.c_bool()
    check(function(*arguments, byref(value)))
    return value.value


def real_and_truth(function: Callable[..., int], *arguments: Any) -> Tuple[float, bool]:
    value, flag = c_double(), ctypes.c_bool()
    check(function(*arguments, byref(value), byref(flag)))
    return value.value, flag.value


def handle(function: Callable[..., int], *arguments: Any) -> int:
    value = c_void_p()
    check(function(*arguments, byref(value)))
    return value.value or 0


def shape(function: Callable[..., int], *arguments: Any) -> Tuple[int, ...]:
    dims, rank = (c_int32 * MAX_RANK)(), c_size_t()
    check(function(*arguments, dims, MAX_RANK, byref(rank)))
    return tuple(dims[: rank.value])


def filled(kind: Type[Struct], function: Callable[..., int], *arguments: Any) -> Struct:
    """A struct that the library fills, after its struct_size."""
    value: Any = kind()
    value.struct_size = ctypes.sizeof(kind)
    check(function(*arguments, byref(value)))
    return value  # type: ignore[no-any-return]


def prepared(kind: Type[Struct], function: Callable[..., int]) -> Struct:
    """A struct that the caller fills, with the defaults of its _init function."""
    value: Any = kind()
    check(function(byref(value), ctypes.sizeof(kind)))
    return value  # type: ignore[no-any-return]


def extents(dims: Sequence[int], name: str = "an extent") -> Tuple[Any, int]:
    values: List[int] = [int(extent) for extent in dims]
    for extent in values:
        if not -(2**31) <= extent < 2**31:
            raise ValueError(f"{name} does not fit 32 bits: {extent}")
    return (c_int32 * len(values))(*values), len(values)


def assign(struct: Any, **values: int) -> None:
    """Sets members of a struct, which ctypes would cut off to their types."""
    for name, value in values.items():
        setattr(struct, name, value)
        if getattr(struct, name) != value:
            raise ValueError(f"{name} is {value}, which does not fit its type")


def content(function: Callable[..., int], *arguments: Any) -> bytes:
    """Returns bytes that the library copies into a buffer; asks again where they have grown meanwhile."""
    needed = c_size_t()
    check(function(*arguments, None, 0, byref(needed)))
    while True:
        capacity = needed.value
        if capacity == 0:
            return b""
        buffer = ctypes.create_string_buffer(capacity)
        status = function(*arguments, buffer, capacity, byref(needed))
        if status == 0 or needed.value <= capacity:
            check(status)
            return buffer.raw[: needed.value]
