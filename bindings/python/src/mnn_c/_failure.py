"""The base of the exceptions that errors.py lists, and the last failure of the library as one of them."""

from __future__ import annotations

import ctypes
import threading
from typing import Any, ClassVar, Dict, Optional, Tuple, Type

from ._library import C


class Error(Exception):
    """A call of the library failed. `status` is its MNN_ERROR_* and `sentence` has the names and numbers at fault."""

    status = 0
    # The classes of errors.py by their statuses.
    kinds: ClassVar[Dict[int, Type[Error]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.kinds.setdefault(cls.status, cls)

    def __init__(self, sentence: str, status: Optional[int] = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        if status is not None:
            self.status = status

    def __str__(self) -> str:
        return f"{self.sentence} ({self.status_name})" if self.sentence else self.status_name

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.sentence, self.status)

    @property
    def status_name(self) -> str:
        """The name of the status as the header spells it."""
        name: bytes = C.mnn_status_name(self.status)
        return name.decode()


Error.__module__ = "mnn_c.errors"  # its public module

# Exceptions of callbacks by thread, which the calls that they belong to raise again. This is not threading.local,
# because a thread of the library has a new one for each callback.
_kept: Dict[int, BaseException] = {}
_get_ident = threading.get_ident


def keep(error: BaseException) -> None:
    """Keeps the exception of a callback; the first one counts."""
    _kept.setdefault(_get_ident(), error)


def kept() -> bool:
    """Returns whether a callback of this thread has raised."""
    return _get_ident() in _kept


def take() -> Optional[BaseException]:
    """Removes and returns the exception that a callback of this thread has raised."""
    return _kept.pop(_get_ident(), None)


def failure(status: int) -> BaseException:
    """Returns the exception of a call that failed just now on this thread."""
    raised = take()
    if raised is not None:
        return raised
    buffer = ctypes.create_string_buffer(1025)
    needed = ctypes.c_size_t()
    C.mnn_last_error_copy(buffer, len(buffer), ctypes.byref(needed))
    return error_of(status, buffer.value)


def error_of(status: int, sentence: bytes) -> Error:
    """Returns the exception of a status with the sentence of a library."""
    words = sentence.decode("utf-8", "replace")
    kind = Error.kinds.get(status)
    return Error(words, status) if kind is None else kind(words)


def check(status: int) -> None:
    """Raises the exception of a status that is not MNN_OK."""
    if status:
        raise failure(status)
