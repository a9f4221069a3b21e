"""Runs that continue while their thread does something else."""

from __future__ import annotations

import threading
from ctypes import byref
from typing import TYPE_CHECKING, Any, Dict, Generator, Iterable, List, Optional

from . import _abi, _calls, _interrupt
from ._failure import check, failure, take
from ._library import C
from .cancel import CancelToken
from .dtypes import Array
from .errors import BadStateError, CancelledError, WaitTimeoutError

if TYPE_CHECKING:
    from .session import Session


class Pending:
    """A run that Session.submit() began: wait() waits for it, result() reads its outputs, and it can be awaited.

    Any thread may wait. The end of a Pending that nothing refers to any more waits for its run.
    """

    _begun = False
    _over = False

    def __init__(self, session: "Session", outputs: Iterable[str], cancel: Optional[CancelToken]) -> None:
        self._session = session
        self._outputs = list(outputs)
        self._own_token = cancel is None
        self._token = CancelToken() if cancel is None else cancel
        self._turn = threading.Lock()  # for the threads that wait
        self._error: Optional[BaseException] = None
        self._results: Optional[Dict[str, Array]] = None
        self._raised: List[BaseException] = []  # by an own operator, on the thread of the run
        self._options = _calls.prepared(_abi.RunOptions, C.mnn_run_options_init)
        self._options.cancel = self._token._handle
        if session.interpreter._operators:
            self._options.done = _native(self._raised)
        check(C.mnn_session_submit(session._handle, byref(self._options)))
        self._begun = True

    def done(self) -> bool:
        """Whether the run is over."""
        return self._settle(0)

    def wait(self, timeout: Optional[float] = None) -> None:
        """Waits for the end of the run, at most `timeout` seconds: then WaitTimeoutError, and the run goes on.

        Raises what the run raises, each time. Ctrl-C on the main thread ends the run.
        """
        if timeout is not None and timeout < 0:
            raise ValueError(f"the timeout is {timeout} seconds; it cannot be negative")
        if not self._settle(-1 if timeout is None else min(int(timeout * 1e9), 2**63 - 1)):
            raise WaitTimeoutError("the submitted run is not over yet")
        if self._error is not None:
            raise self._error

    def result(self, timeout: Optional[float] = None) -> Dict[str, Array]:
        """The outputs by name, as Session.run() returns them, when the run is over."""
        self.wait(timeout)
        with self._session._lock:
            if self._results is None:
                self._results = {name: self._session._read(name) for name in self._outputs}
            return self._results

    def cancel(self) -> None:
        """Ends the run: it raises CancelledError. Triggers the token that submit() was given, if there is one."""
        if not self._over:
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
        if not self._turn.acquire(timeout=limit):
            return False
        try:
            if not self._over:
                status = self._wait(nanoseconds)
                if status == WaitTimeoutError.status:
                    return False
                if self._raised:
                    self._error = self._raised[0]
                elif status == BadStateError.status and self._interrupted:
                    self._error = CancelledError("the run was ended by Ctrl-C")
                elif status:
                    self._error = failure(status)
                self._over = True
            return True
        finally:
            self._turn.release()

    _interrupted = False  # set when the end of an earlier wait raised an exception

    def _wait(self, nanoseconds: int) -> int:
        session = self._session._handle
        waited = False

        def wait(_: int) -> int:
            nonlocal waited
            if waited:  # the signal of another call ended the run, so it is repeated
                begun: int = C.mnn_session_submit(session, byref(self._options))
                if begun:
                    return begun
            waited = True
            status: int = C.mnn_session_wait(session, nanoseconds)
            return status

        if not _interrupt.applies() or self._token.closed:
            return wait(0)
        try:
            return _interrupt.call(wait, self._token)
        except KeyboardInterrupt:
            self._interrupted = True
            raise

    def __repr__(self) -> str:
        return f"<Pending {'over' if self._over else 'under way'}>"

    def __del__(self) -> None:
        if self._begun and not self._over:
            C.mnn_session_wait(self._session._value, -1)


def _native(raised: List[BaseException]) -> Any:
    """The function that the library calls at the end: it keeps the exceptions of own operators on the thread of the
    run."""

    def call(_: Any, status: int) -> None:
        error = take()
        if error is not None:
            raised.append(error)

    return _abi.RunCallback(call)
