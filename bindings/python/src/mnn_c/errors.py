"""Exceptions: one for each status of mnn_c.h, with the sentence of the library."""

from __future__ import annotations

import ctypes
import threading
from typing import Any, Dict, Optional, Tuple, Type

from ._library import C


class Error(Exception):
    """A call of the library failed. `status` is its MNN_ERROR_* and `sentence` has the names and numbers at fault."""

    status = 0

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


class OutOfMemoryError(Error, MemoryError):
    """The host has no more memory."""

    status = 1


class NotSupportedError(Error, NotImplementedError):
    """An operator, an element type or a case of an operator is not implemented."""

    status = 2


class ComputeSizeError(Error):
    """An operator rejects the shapes of its inputs."""

    status = 3


class NoExecutionError(Error):
    """No backend of the session runs an operator."""

    status = 4


class InvalidValueError(Error, ValueError):
    """An argument or a field has a value that is not allowed."""

    status = 5


class InputDataError(Error, ValueError):
    """The data of an input does not fit the tensor or the operator."""

    status = 10


class CallbackStopError(Error):
    """A callback asked to stop."""

    status = 11


class FileOpenFailedError(Error, OSError):
    """A file exists but cannot be opened, or is a directory."""

    status = 32


class FileReadFailedError(Error, OSError):
    """A file was opened but could not be read or mapped to its end."""

    status = 34


class FileNotExistError(Error, FileNotFoundError):
    """There is no such file."""

    status = 36


class NullArgumentError(Error, ValueError):
    """A pointer that must not be NULL is NULL."""

    status = 100


class BadHandleError(Error, ValueError):
    """The handle is destroyed, of another kind or of another session."""

    status = 101


class BadStateError(Error):
    """The call is not allowed now, e.g. before a resize."""

    status = 102


class NotFoundError(Error, LookupError):
    """No tensor, operator or instruction set has that name."""

    status = 103


class BadRangeError(Error, ValueError):
    """A number is outside its range."""

    status = 104


class BadTypeError(Error, TypeError):
    """Element types do not match."""

    status = 105


class BadFormatError(Error):
    """The bytes are not a well-formed model."""

    status = 106


class BadIndexError(Error, IndexError):
    """An index, of the caller or inside the model, is too large."""

    status = 107


class TruncatedError(Error):
    """The model or its weight file ends too early."""

    status = 108


class BusyError(Error):
    """Another call is using the session; see Threads above."""

    status = 109


class BackendMissingError(Error):
    """The wanted backend is not built in or has no device."""

    status = 110


class VersionMismatchError(Error):
    """A struct size or version that this library does not know."""

    status = 113


class CancelledError(Error):
    """The cancellation token of the call was triggered."""

    status = 114


class BadParameterError(Error):
    """An operator carries the wrong or an incomplete parameter table."""

    status = 115


class BadWeightsError(Error):
    """Weights are missing, too short or not decodable."""

    status = 116


class SizeOverflowError(Error, OverflowError):
    """A product of extents, an offset or a size does not fit its type."""

    status = 117


class CycleError(Error):
    """A tensor is used before it is produced, or a subgraph calls itself."""

    status = 118


class LimitExceededError(Error):
    """Max_memory_bytes or max_loop_iterations was crossed."""

    status = 119


class BufferTooSmallError(Error):
    """The caller's buffer is too small for the result."""

    status = 120


class DeviceLostError(Error):
    """A GPU stopped working: its sessions fail from now on, new sessions may work."""

    status = 121


class DriverError(Error):
    """A GPU driver gave an unexpected result; the sentence has its number."""

    status = 122


class FileChangedError(Error, OSError):
    """A model or weight file is no longer the one that was loaded."""

    status = 123


class FileWriteFailedError(Error, OSError):
    """A file could not be written."""

    status = 124


class WaitTimeoutError(Error, TimeoutError):
    """A submitted run did not end in the time that was given."""

    status = 125


class InternalError(Error):
    """A defect of this library."""

    status = 199


BY_STATUS: Dict[int, Type[Error]] = {kind.status: kind for kind in Error.__subclasses__()}

# Exceptions of callbacks by the thread, which the calls that they belong to raise again. Not threading.local: a thread of the
# library has a new one for each callback.
_kept: Dict[int, BaseException] = {}
_get_ident = threading.get_ident


def keep(error: BaseException) -> None:
    """Keeps what a callback raised; the first one counts."""
    _kept.setdefault(_get_ident(), error)


def kept() -> bool:
    """Whether a callback of this thread has raised."""
    return _get_ident() in _kept


def take() -> Optional[BaseException]:
    """What a callback of this thread has raised."""
    return _kept.pop(_get_ident(), None)


def failure(status: int) -> BaseException:
    """The exception of a call that failed just now on this thread."""
    raised = take()
    if raised is not None:
        return raised
    buffer = ctypes.create_string_buffer(1025)
    needed = ctypes.c_size_t()
    C.mnn_last_error_copy(buffer, len(buffer), ctypes.byref(needed))
    sentence = buffer.value.decode("utf-8", "replace")
    kind = BY_STATUS.get(status)
    return Error(sentence, status) if kind is None else kind(sentence)


def check(status: int) -> None:
    """Raises the exception of a status that is not MNN_OK."""
    if status:
        raise failure(status)
