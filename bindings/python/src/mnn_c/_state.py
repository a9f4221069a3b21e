"""The state that a session keeps from run to run, for example keys and values of a language model."""

from __future__ import annotations

from typing import Any

from . import _abi, _calls
from ._description import Described
from ._failure import check
from ._library import C
from ._values import value_of
from .enums import ElementType
from .info import StateInfo


class Stateful(Described):
    """The part of a session that handles its state. A row is the state of one token."""

    @property
    def state(self) -> StateInfo:
        """The state now. A run adds as many rows as its inputs have tokens; one that fails leaves the state as it
        was."""
        with self._lock:
            struct = _calls.filled(_abi.StateProperties, C.mnn_session_state_info, self._handle)
        return value_of(struct, StateInfo)  # type: ignore[no-any-return]

    def reset_state(self) -> None:
        """Forgets all rows. Their memory stays for later runs; trim() gives it back."""
        with self._lock:
            check(C.mnn_session_state_reset(self._handle))

    def erase_state(self, begin: int, end: int) -> None:
        """Removes the rows from `begin` to before `end`; the rows behind them move up."""
        if begin < 0 or end < 0:
            raise ValueError(f"the rows are {begin} to {end}; they cannot be negative")
        with self._lock:
            check(C.mnn_session_state_erase(self._handle, begin, end))

    def reserve_state(self, length: int) -> None:
        """Allocates memory for `length` rows in total, so that runs up to this length allocate none."""
        if length < 0:
            raise ValueError(f"the length is {length}; it cannot be negative")
        with self._lock:
            check(C.mnn_session_state_reserve(self._handle, length))

    def set_state_type(self, element_type: ElementType) -> None:
        """Chooses the type in which rows are kept, while there are none: FLOAT32, or FLOAT16 in half of the memory."""
        with self._lock:
            check(C.mnn_session_state_set_type(self._handle, int(element_type)))

    def copy_state_to(self, target: "Stateful") -> None:
        """Copies the state to another session of the same model, which goes on from there."""
        first: Any
        second: Any
        # The order of locking does not depend on which one is the source, so two calls cannot deadlock.
        first, second = sorted((self, target), key=id)
        with first._lock, second._lock:
            check(C.mnn_session_state_copy(self._handle, target._handle))

    def save_state(self) -> bytes:
        """The state as bytes, for load_state() of this or a later process."""
        with self._lock:
            return _calls.content(C.mnn_session_state_save, self._handle)

    def load_state(self, data: bytes) -> None:
        """Replaces the state by one that save_state() returned. The bytes are checked."""
        with self._lock:
            check(C.mnn_session_state_load(self._handle, bytes(data), len(data)))
