"""Ctrl-C: it ends a call of the library that the main thread is in, which then raises KeyboardInterrupt.

Python calls its handlers of signals between two of its own instructions, so not while the library computes. During
such a call, signal.set_wakeup_fd() makes Python write the numbers of signals to a socket at once. A thread that
sleeps at the other end of the socket triggers the token of the call.

KeyboardInterrupt is raised when the call is over and its results are kept. Raised between any two instructions, it
would lose a handle or a status that the library returns only once, and at the entry of a callback, where nothing can
catch it, the library would get an arbitrary result. Only functions of the program that callbacks run are interrupted at
once.

Only Python's own handler of SIGINT, which raises KeyboardInterrupt, is helped in this way: a program with another
handler decides by itself what ends its calls.
"""

from __future__ import annotations

# The functions of `signal` make enumerations of their results, which takes a good part of a small run.
import _signal  # type: ignore[import-not-found]
import os
import signal
import socket
import sys
import threading
from typing import Any, Callable, List, Optional, TypeVar

from . import _calls
from ._failure import kept, take
from ._library import C
from .errors import CancelledError

_CANCELLED = CancelledError.status
_get_ident = threading.get_ident
Result = TypeVar("Result")
_noted = False  # Ctrl-C came during the present call


def _note(_: int, frame: Any) -> None:
    """The handler of SIGINT during calls of the library."""
    global _noted
    while frame is not None and frame.f_code is not held.__code__:
        if frame.f_code is program.__code__:
            raise KeyboardInterrupt
        frame = frame.f_back
    if frame is None:
        raise KeyboardInterrupt
    _noted = True


def program(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of the program in a callback, which Ctrl-C interrupts. The callback must keep the exception."""
    return function(*arguments)


def held(function: Callable[[], Result]) -> Result:
    """Calls a function. On the main thread, Ctrl-C raises KeyboardInterrupt when the function is over."""
    global _noted
    if not applies():
        return function()
    before = _signal.getsignal(signal.SIGINT)
    if before is not _note:
        _noted = False
    _signal.signal(signal.SIGINT, _note)
    try:
        return function()
    finally:
        if _signal.getsignal(signal.SIGINT) is _note:  # else a callback has set a handler, which stays
            _signal.signal(signal.SIGINT, before)
        if _noted:
            _noted = False
            take()
            raise KeyboardInterrupt


class _Token:
    """The token of calls that the program has given none, with what is used here of a CancelToken."""

    triggered = False

    def __init__(self) -> None:
        self._handle = self._value = _calls.handle(C.mnn_cancel_create)

    def _interrupted(self) -> None:
        C.mnn_cancel_reset(self._value)


class _Watcher:
    def __init__(self) -> None:
        self.read_end, self.socket = socket.socketpair()  # on Windows Python writes to sockets alone
        self.socket.setblocking(False)
        self.write_end = self.socket.fileno()
        self.active: List[Any] = []
        self.fired = False
        self.forward = -1
        threading.Thread(target=self._watch, name="mnn_c Ctrl-C", daemon=True).start()
        try:
            self.token = _Token()  # it has no destructor, so nothing may fail after it
        except BaseException:
            self.socket.close()  # which ends the thread
            raise

    def _watch(self) -> None:
        while True:
            data = self.read_end.recv(64)
            if not data:
                self.read_end.close()
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

    def call(self, function: Callable[[int], int], cancel: Any) -> int:
        token = self.token if cancel is None else cancel
        before = signal.set_wakeup_fd(self.write_end, warn_on_full_buffer=False)
        if before != self.write_end:
            self.forward = before
        self.active.append(token)
        try:
            while True:
                status = function(token._handle)
                # Python has called its handler by now. It noted the signal, or it raised KeyboardInterrupt in a
                # callback, which kept it.
                if kept():
                    return _outcome(status)
                if status != _CANCELLED or _noted or not self.fired or token.triggered:
                    return status
                # The signal belonged to an earlier call, so this one is repeated.
                self.fired = len(self.active) > 1  # the signal triggers the tokens of all of them
                token._interrupted()
        finally:
            self.active.pop()
            if before != self.write_end:  # else an outer call goes on; in a child of fork() the socket is closed
                signal.set_wakeup_fd(before)
            if self.fired:
                self.fired = bool(self.active)
                token._interrupted()


def _outcome(status: int) -> int:
    """Returns the status of a call, or raises what a callback has kept although the call succeeded."""
    raised = take() if status == 0 else None
    if raised is not None:
        raise raised
    return status


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
    """In a child of fork(), which does not have the other threads of its parent."""
    global _noted, _watcher
    if _watcher:
        descriptor = signal.set_wakeup_fd(-1)
        if descriptor not in (-1, _watcher.write_end):
            signal.set_wakeup_fd(descriptor)
        _watcher.read_end.close()
        _watcher.socket.close()
    _watcher = None
    _noted = False
    # A call on this thread goes on in the child; its frame has a variable for the former handler where it set one.
    frame: Any = sys._getframe()
    while frame is not None and not (frame.f_code is held.__code__ and "before" in frame.f_locals):
        frame = frame.f_back
    if frame is None and _signal.getsignal(signal.SIGINT) is _note:  # a call of another thread has set it
        _signal.signal(signal.SIGINT, signal.default_int_handler)


if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forget)


def applies() -> bool:
    """Returns whether Ctrl-C must end a call that begins now."""
    return _get_ident() == threading.main_thread().ident and _signal.getsignal(signal.SIGINT) in (
        signal.default_int_handler,
        _note,
    )


def call(function: Callable[[int], int], cancel: Any) -> int:
    """Calls function(handle of a token or 0) in such a way that Ctrl-C ends it. `cancel` is a CancelToken or None."""
    if not applies():
        return function(0 if cancel is None else cancel._handle)
    return held(lambda: _watched(function, cancel))


def _watched(function: Callable[[int], int], cancel: Any) -> int:
    global _watcher
    if _watcher is None:
        try:
            _watcher = _Watcher()
        except (OSError, RuntimeError):  # no descriptors are left, or no thread can begin because the program ends
            return _outcome(function(0 if cancel is None else cancel._handle))
    return _watcher.call(function, cancel)
