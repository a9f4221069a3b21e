"""Runs that continue while their thread does something else."""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
import time
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


class Run:
    """A run of a session, from its submission until the library has returned its status, which it does only once."""

    error: Optional[BaseException] = None
    number = 0  # counting the runs of the session
    over = False  # its thread has come to its end
    settled = True  # no status is left to ask for
    kept: Optional["Session"] = None  # until then, with the memory that the run writes

    def __init__(self, session: int, token: CancelToken, own_token: bool) -> None:
        self.session = session  # its handle
        self.token, self.own_token = token, own_token
        self._renew()

    def _renew(self) -> None:
        # For submitting the run and asking for its status. A handler of a signal may do the latter during the former.
        self.turn = threading.RLock()
        # The thread of the run releases this lock at the end, and never waits for another thread: it computes the runs
        # of all sessions of a runtime.
        self.ended = threading.Lock()
        self.ended.acquire()

    def begin(self, session: "Session") -> None:
        options = _calls.prepared(_abi.RunOptions, C.mnn_run_options_init)
        options.cancel, options.done = self.token._handle, _done
        options.user_data = number = _registry.add(self)  # until _done
        _alive.add(self)
        with self.turn:
            # This precedes the call, because a handler of a signal may raise at its end, when the run has begun.
            before, session._run = session._run, self
            self.settled, self.kept = False, session
            status: int = C.mnn_session_submit(self.session, byref(options))
            if status:
                self.settled, self.kept, session._run = True, None, before
                _registry.remove(number)
                check(status)
            self.settled, self.kept = False, session  # a handler may have asked before the call
            if before is not None:  # a handler may have lost its status; the next one belongs to this run
                before.settled, before.kept = True, None

    def end(self, status: int) -> None:
        """Keeps the end of the run, on the thread of the run."""
        try:
            self.error = failure(status) if status else take()
            self.number = ended_runs(self.session)
        finally:
            self.over = True
            self.ended.release()

    def settle(self, timeout: Optional[float]) -> bool:
        """Waits for the end of the run, at most `timeout` seconds; returns whether it is over. Ctrl-C ends it."""
        try:
            return self._wait(timeout)
        except KeyboardInterrupt:
            _interrupt.held(self._stop)
            raise

    def _wait(self, timeout: Optional[float]) -> bool:
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            status = self._ask()
            if status == BusyError.status:  # in a callback on the thread that comes to this run later
                raise failure(status)
            if status != WaitTimeoutError.status:
                return True
            if self.over:
                time.sleep(0)  # lets its thread leave _done
                continue
            left = _SLICE if end is None else min(end - time.monotonic(), _SLICE)
            if left <= 0:
                return False
            ended = self.ended  # a child of fork() gets another one
            if ended.acquire(timeout=left):
                ended.release()  # for other threads that wait

    def _ask(self) -> int:
        with self.turn:
            if self.settled:
                return 0
            status: int = C.mnn_session_wait(self.session, 0)
            if status not in (WaitTimeoutError.status, BusyError.status):  # callbacks give the library neither of them
                self.settled, self.kept = True, None
                if status and not self.over:  # in a child of fork(), which does not have the run
                    self.error = failure(status)
            return status

    def _stop(self) -> None:
        if self.settled:
            return
        C.mnn_cancel_trigger(self.token._value)
        try:
            self._wait(None)
        finally:
            self.token._interrupted()


def ended_runs(session: int) -> int:
    """Returns how many runs of a session have begun and ended."""
    statistics = _calls.filled(_abi.Statistics, C.mnn_session_statistics, session)
    count: int = statistics.runs + statistics.failed_runs
    return count


class Pending:
    """A run that Session.submit() began: wait() waits for it, result() reads its outputs, and it can be awaited.

    Any thread may wait. The end of a Pending that nothing refers to any more waits for its run.
    """

    def __init__(self, session: "Session", run: Run, outputs: Iterable[str]) -> None:
        self._session = session
        self._run = run
        self._outputs = list(outputs)
        self._results: Optional[Dict[str, Array]] = None

    def done(self) -> bool:
        """Whether the run is over."""
        return self._run.settle(0)

    def wait(self, timeout: Optional[float] = None) -> None:
        """Waits for the end of the run, at most `timeout` seconds: then WaitTimeoutError, and the run goes on.

        Raises what the run raises, each time. Ctrl-C on the main thread ends the run.
        """
        if timeout is not None and not timeout >= 0:  # as with a NaN
            raise ValueError(f"the timeout is {timeout} seconds; it has to be 0 or more")
        if not self._run.settle(timeout):
            raise WaitTimeoutError("the submitted run is not over yet")
        if self._run.error is not None:
            raise self._run.error

    def result(self, timeout: Optional[float] = None) -> Dict[str, Array]:
        """The outputs by name, as Session.run() returns them, when the run is over. They must be read before the
        session's next run, which overwrites them: later calls return the same arrays."""
        self.wait(timeout)
        session = self._session
        with session._lock:
            if self._results is None:
                if session._run is not self._run or ended_runs(session._handle) != self._run.number:
                    raise BadStateError("the session has run again since, so the outputs of this run are gone")
                self._results = {name: session._read(name) for name in self._outputs}
            return self._results

    def cancel(self) -> None:
        """Ends the run: it raises CancelledError. Triggers the token that submit() was given, if there is one."""
        if not self._run.settled:
            self._run.token.trigger()

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
            if self._run.own_token:
                self.cancel()
            await asyncio.wait({future})
            if not future.cancelled():
                future.exception()
            raise

    def __repr__(self) -> str:
        return f"<Pending {'over' if self._run.settled else 'under way'}>"

    def __del__(self) -> None:
        # The thread of the run gets no turn to call Python any more while the interpreter ends.
        if not sys.is_finalizing():
            with contextlib.suppress(BusyError):  # Session.close() waits for it
                self._run.settle(None)


def _end(number: int, status: int) -> None:
    run: Run = _registry.get(number)
    _registry.remove(number)
    run.end(status)


_done = _abi.RunCallback(_end)
_alive: "weakref.WeakSet[Run]" = weakref.WeakSet()
# Seconds, after which a wait asks the library again: Windows interrupts no wait, and in a child of fork() there is no
# thread that would end it.
_SLICE = 0.1


def _end_runs() -> None:
    """Ends the runs that are under way when the program ends, because their callbacks need Python."""
    for run in list(_alive):
        try:
            if run.own_token and not run.settled:
                run.token.trigger()
            _interrupt.program(run.settle, None)  # Ctrl-C ends it
        except BaseException as error:  # the other runs must end, too
            _registry.report(error, run)


def _forget() -> None:
    """In a child of fork(): the runs end in the parent, whose threads may have been waiting for them."""
    for run in list(_alive):
        run._renew()
    _alive.clear()


atexit.register(_interrupt.held, _end_runs)
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_forget)
