"""External weights of a model: a file, bytes, or a reader."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Any, Callable, Optional, Union

import numpy as np

from . import _abi, _registry
from ._calls import encode
from ._failure import keep
from ._interrupt import program
from .enums import Load
from .errors import FileReadFailedError


@dataclass(frozen=True)
class WeightReader:
    """Reads external weights when they are prepared: read(offset, count) gives that many bytes of `size`. It is called
    on the threads that load models and create sessions, by several at once, and must not use these models and sessions.
    The call that needs the weights raises its exceptions."""

    size: int
    read: Callable[[int, int], Union[bytes, bytearray, memoryview]]


ExternalWeights = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview, WeightReader]


def _call_reader(number: int, offset: int, destination: int, count: int) -> int:
    try:
        data = memoryview(program(_registry.get(number).read, offset, count)).cast("B")
        if len(data) != count:
            raise ValueError(f"the reader gave {len(data)} bytes at {offset}, not {count}")
        ctypes.memmove(destination, bytes(data), count)
        return 0
    except BaseException as error:
        keep(error)
        return FileReadFailedError.status


_reader = _abi.WeightReader(_call_reader)


def borrow(data: Any) -> Any:
    """Returns an array over bytes, which keeps the bytes at their address."""
    return np.frombuffer(data, np.uint8)


def give(options: Any, weights: Optional[ExternalWeights]) -> int:
    """Fills the options. The library releases the object of the returned number; 0: there is none."""
    if weights is None:
        return 0
    if isinstance(weights, WeightReader):
        if not 0 <= weights.size < 2**63:
            raise ValueError(f"the size of external weights is {weights.size}; 0 to 2^63 - 1 are allowed")
        options.external_weight_reader, options.external_weight_size = _reader, weights.size
        number = _registry.add(weights)
    elif isinstance(weights, (bytes, bytearray, memoryview)):
        memory = borrow(weights)
        options.external_weight_data, options.external_weight_size = memory.ctypes.data, memory.size
        options.external_weight_mode = Load.BORROW
        number = _registry.add(memory)
    else:
        options.external_weight_path = encode(os.fspath(weights), "external_weights")
        return 0
    options.external_weight_user_data = number
    options.external_weight_finalizer = _registry.finalizer
    return number


def kept(weights: Optional[ExternalWeights]) -> Optional[ExternalWeights]:
    """Returns the description of a pickled model's weights."""
    if weights is None or isinstance(weights, WeightReader):
        return weights
    if isinstance(weights, (bytes, bytearray, memoryview)):
        return bytes(weights)
    return os.path.abspath(os.fspath(weights))
