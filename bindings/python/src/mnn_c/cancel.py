"""Cancellation tokens, which end loads, creations, resizes and runs from another thread."""

from __future__ import annotations

import threading

from . import _calls, _interrupt
from ._failure import check
from ._handles import Closable
from ._library import C


class CancelToken(Closable):
    """Ends the calls that it is given to: they raise CancelledError. It stays triggered until it is reset."""

    _destroy = C.mnn_cancel_destroy

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a handler of a signal may trigger the token
        self._triggered = False

        def create() -> None:
            self._value = _calls.handle(C.mnn_cancel_create)

        _interrupt.held(create)  # Ctrl-C raises only after this function

    @property
    def triggered(self) -> bool:
        """Whether trigger() was called since the last reset()."""
        return self._triggered

    def trigger(self) -> None:
        """Ends the calls that have the token, and those that get it later."""
        with self._lock:
            self._triggered = True
            check(C.mnn_cancel_trigger(self._handle))

    def reset(self) -> None:
        """Removes the trigger for calls that begin afterwards."""
        with self._lock:
            self._triggered = False
            check(C.mnn_cancel_reset(self._handle))
            self._keep_trigger()

    def _interrupted(self) -> None:
        """Removes the trigger of Ctrl-C, but not a trigger of the program."""
        with self._lock:
            if not self._triggered:
                C.mnn_cancel_reset(self._value)
                self._keep_trigger()

    def _keep_trigger(self) -> None:
        if self._triggered:  # by a handler of a signal during the reset
            C.mnn_cancel_trigger(self._value)

    def __repr__(self) -> str:
        return f"<CancelToken {'closed' if self.closed else 'triggered' if self._triggered else 'not triggered'}>"
