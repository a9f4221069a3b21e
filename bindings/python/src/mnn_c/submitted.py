"""Runs that continue while their thread does something else."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from ctypes import byref
from typing import TYPE_CHECKING, Any, Dict, Generator, Iterable, Optional

from . import _abi, _calls, _interrupt, _registry
from ._failure import check, failure, take
from ._library import C
from .cancel import CancelToken
from .dtypes import Array
from .errors import BadStateError, BusyError, WaitTimeoutError

if TYPE_CHECKING:
    from .session import Session


class _Run:
    """A run, which its own thread completes at its end. The library returns a status only once, and a handler of a
    signal that raises loses it."""

    over = False
    error: Optional[BaseException] = None
    number = 0  # counting the runs of the session

    def __init__(self, session: int) -> None:
        self.session = session  # its handle, which lives as long as the run; only other threads may destroy it


def _ended_runs(session: int) -> int:
    """Returns how many runs of a session have begun and ended."""
    statistics = _calls.filled(_abi.Statistics, C.mnn_session_statistics, session)
    count: int = statistics.runs + statistics.failed_runs
    return count


class Pending:
    """A run that Session.submit() began: wait() waits for it, result() reads its outputs, and it can be awaited.

    Any thread may wait. The end of a Pending that nothing refers to any more waits for its run.
    """

    _error: Optional[BaseException] = None  # that of the run when it is over
    _under_way = False  # from mnn_session_submit() to the mnn_session_wait() that returns the status of the run

    def __init__(self, session: "Session", outputs: Iterable[str], cancel: Optional[CancelToken]) -> None:
        self._session = session
        self._outputs = list(outputs)
        self._own_token = cancel is None
        self._token = CancelToken() if cancel is None else cancel
        # For the threads that submit and wait. A handler of a signal may close the session meanwhile, or wait itself.
        self._turn = threading.RLock()
        self._results: Optional[Dict[str, Array]] = None
        self._options = _calls.prepared(_abi.RunOptions, C.mnn_run_options_init)
        self._options.cancel = self._token._handle
        self._options.done = _done
        _alive.add(self)
        _interrupt.held(self._begin)

    def _begin(self) -> None:
        with self._turn:  # Session.close() of another thread must not wait for a run that has not begun
            self._submit()

    def _submit(self) -> None:
        session = self._session
        self._run = _Run(session._handle)
        number = _registry.add(self._run)  # until _done
        self._options.user_data = number
        # All of this precedes the call, because a handler of a signal may raise at its end, when the run has begun.
        before, session._pending = session._pending, weakref.ref(self)
        self._place = session._submitted + 1
        self._under_way = True
        status: int = C.mnn_session_submit(session._handle, byref(self._options))
        if status:
            self._under_way = False
            if session._pending is not None and session._pending() is self:
                session._pending = before
            _registry.remove(number)
            check(status)
        session._submitted = self._place

    def _followed(self) -> bool:
        """Whether a later run was submitted, which is possible when the library has returned the status of this one."""
        return self._session._submitted > self._place

    def done(self) -> bool:
        """Whether the run is over."""
        return self._settle(0)

    def wait(self, timeout: Optional[float] = None) -> None:
        """Waits for the end of the run, at most `timeout` seconds: then WaitTimeoutError, and the run goes on.

        Raises what the run raises, each time. Ctrl-C on the main thread ends the run.
        """
        if timeout is not None and timeout < 0:
            raise ValueError(f"the timeout is {timeout} seconds; it cannot be negative")
        if not self._settle(-1 if timeout is None else int(min(timeout * 1e9, 2**63 - 1))):
            raise WaitTimeoutError("the submitted run is not over yet")
        if self._error is not None:
            raise self._error

    def result(self, timeout: Optional[float] = None) -> Dict[str, Array]:
        """The outputs by name, as Session.run() returns them, when the run is over. They must be read before the
        session's next run, which overwrites them: later calls return the same arrays."""
        self.wait(timeout)
        with self._session._lock:
            if self._results is None:
                if self._followed() or _ended_runs(self._session._handle) != self._run.number:
                    raise BadStateError("the session has run again since, so the outputs of this run are gone")
                self._results = {name: self._session._read(name) for name in self._outputs}
            return self._results

    def cancel(self) -> None:
        """Ends the run: it raises CancelledError. Triggers the token that submit() was given, if there is one."""
        if self._under_way:
            self._token.trigger()

    def __await__(self) -> Generator[Any, None, Dict[str, Array]]:
        """Awaits result(). Cancelling the task ends the run, unless submit() was given a token; it waits for that
        end."""
        return self._awaited().__await__()

    async def _awaited(self) -> Dict[str, Array]:
        import asyncio

        future = asyncio.get_running_loop().run_in_executor(None, self.result)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            if self._own_token:
                self.cancel()
            await asyncio.wait({future})
            if not future.cancelled():
                future.exception()
            raise

    def _settle(self, nanoseconds: int) -> bool:
        """Waits at most `nanoseconds`, without a limit where they are below 0; returns whether the run is over."""
        limit = -1.0 if nanoseconds < 0 else min(nanoseconds / 1e9, threading.TIMEOUT_MAX)
        waited = False

        def settle(_: int) -> int:
            nonlocal waited
            turn = self._turn  # a child of fork() has another one
            if not turn.acquire(timeout=limit):
                return WaitTimeoutError.status
            try:
                if waited:  # the signal of another call ended the run, so it is repeated
                    self._submit()
                waited = True
                return self._wait(nanoseconds) if self._under_way else 0
            finally:
                turn.release()

        status = _interrupt.call(settle, None if self._token.closed else self._token)
        if status == BusyError.status:  # in a callback on the thread that comes to this run later
            raise failure(status)
        return status != WaitTimeoutError.status

    def _wait(self, nanoseconds: int) -> int:
        # Without a later run, the library answers with MNN_ERROR_BAD_STATE where a handler has lost the status.
        status: int = 0 if self._followed() else C.mnn_session_wait(self._session._handle, nanoseconds)
        if status not in (WaitTimeoutError.status, BusyError.status):  # callbacks give the library neither of them
            self._under_way = False
            if self._run.over:
                self._error = self._run.error
            elif status:  # in a child of fork()
                self._error = failure(status)
        return status

    def __repr__(self) -> str:
        return f"<Pending {'under way' if self._under_way else 'over'}>"

    def __del__(self) -> None:
        # The thread of the run gets no turn to call Python any more while the interpreter ends.
        if self._under_way and not sys.is_finalizing():
            with self._turn:  # Session.close() of another thread may wait, too
                if not self._followed():
                    C.mnn_session_wait(self._session._value, -1)
                self._under_way = False


def _take_end(number: int, status: int) -> None:
    """The end of a run, on its thread: keeps it for the threads that wait."""
    run = _registry.get(number)
    _registry.remove(number)
    run.error = failure(status) if status else take()
    run.number = _ended_runs(run.session)
    run.over = True


_done = _abi.RunCallback(_take_end)
_alive: "weakref.WeakSet[Pending]" = weakref.WeakSet()


def _end_runs() -> None:
    """Ends the runs that are under way when the program ends, because their callbacks need Python."""
    for pending in list(_alive):
        try:
            if pending._own_token:
                pending.cancel()
            pending._settle(-1)
        except BaseException as error:  # the other runs must end, too
            _registry.report(error, pending)


def _forget() -> None:
    """In a child of fork(): the runs end in the parent, whose threads may have been waiting for them."""
    for pending in list(_alive):
        pending._turn = threading.RLock()
    _alive.clear()


atexit.register(_interrupt.held, _end_runs)
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forget)
