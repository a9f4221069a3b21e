"""Ctrl-C: it ends a call of the library that the main thread is in, which then raises KeyboardInterrupt.

Python calls its handlers of signals between two of its own instructions, so not during a call of the library. During
such a call, signal.set_wakeup_fd() makes Python write the numbers of signals to a socket at once. A thread that
sleeps at the other end of the socket triggers the token of the call. Only Python's own handler of SIGINT, which raises
KeyboardInterrupt, is helped in this way: a program with another handler decides by itself what ends its calls.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from typing import Callable, List, Optional

from ._failure import kept, take
from ._library import C
from .cancel import CancelToken
from .errors import CancelledError

_CANCELLED = CancelledError.status
_get_ident = threading.get_ident


class _Watcher:
    def __init__(self) -> None:
        self.read_end, self.socket = socket.socketpair()  # on Windows Python writes to sockets alone
        self.socket.setblocking(False)
        self.write_end = self.socket.fileno()
        self.token = CancelToken()
        self.active: List[CancelToken] = []
        self.fired = False
        self.forward = -1
        threading.Thread(target=self._watch, name="mnn_c Ctrl-C", daemon=True).start()

    def _watch(self) -> None:
        while True:
            data = self.read_end.recv(64)
            if not data:
                return
            if self.forward >= 0:
                try:
                    _write(self.forward, data)  # for the descriptor that was set before, e.g. by an event loop
                except OSError:
                    pass
            if signal.SIGINT in data:
                for token in list(self.active):
                    self.fired = True
                    C.mnn_cancel_trigger(token._value)

    def call(self, function: Callable[[int], int], cancel: Optional[CancelToken]) -> int:
        token = self.token if cancel is None else cancel
        before = signal.set_wakeup_fd(self.write_end, warn_on_full_buffer=False)
        if before != self.write_end:
            self.forward = before
        self.active.append(token)
        try:
            while True:
                status = function(token._handle)
                # Python calls its handler here at the latest. It raises KeyboardInterrupt here, or it has done so in a
                # callback, which kept it.
                if kept():
                    raised = take() if status == 0 else None
                    if raised is not None:
                        raise raised
                    return status
                if status != _CANCELLED or not self.fired or token.triggered:
                    return status
                # The signal belonged to an earlier call, so this one is repeated.
                self.fired = False
                token._interrupted()
        finally:
            self.active.pop()
            signal.set_wakeup_fd(before)
            if self.fired:
                self.fired = False
                token._interrupted()


def _write(descriptor: int, data: bytes) -> None:
    if sys.platform != "win32":
        os.write(descriptor, data)
        return
    end = socket.socket(fileno=descriptor)
    try:
        end.send(data)
    finally:
        end.detach()  # the descriptor belongs to other code


_watcher: Optional[_Watcher] = None


def _forget() -> None:
    global _watcher
    if _watcher:  # a child of fork() does not have its parent's threads
        _watcher.read_end.close()
        _watcher.socket.close()
    _watcher = None


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forget)


def applies() -> bool:
    """Returns whether Ctrl-C must end a call that begins now."""
    return (
        _get_ident() == threading.main_thread().ident
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )


def call(function: Callable[[int], int], cancel: Optional[CancelToken]) -> int:
    """Calls function(handle of a token or 0) in such a way that Ctrl-C ends it."""
    global _watcher
    if not applies():
        return function(0 if cancel is None else cancel._handle)
    if _watcher is None:
        _watcher = _Watcher()
    return _watcher.call(function, cancel)
