"""The description of a session: its tensors, settings, operators, memory and times, also as tables."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Tuple

from . import _abi, _calls
from ._handles import Closable
from ._library import C
from ._values import value_of
from .info import OpInfo, SessionInfo, Statistics
from .tables import Table, html_table
from .tensor import Tensor


class Described(Closable):
    """The part of a session that only reads its state."""

    _lock: Any  # a threading.RLock
    _inputs: Dict[str, int]
    _outputs: Dict[str, int]

    @property
    def inputs(self) -> Table[Tensor]:
        return self._table(self._inputs)

    @property
    def outputs(self) -> Table[Tensor]:
        return self._table(self._outputs)

    def _table(self, handles: Mapping[str, int]) -> Table[Tensor]:
        self._handle
        session: Any = self
        return Table([Tensor(handle, session) for handle in handles.values()], ("name", "dtype", "shape", "format"))

    @property
    def info(self) -> SessionInfo:
        struct = _calls.filled(_abi.SessionProperties, C.mnn_session_info, self._handle)
        return value_of(struct, SessionInfo)  # type: ignore[no-any-return]

    def path_info(self, path: int) -> SessionInfo:
        """The setup of one path; `info` describes the first."""
        struct = _calls.filled(_abi.SessionProperties, C.mnn_session_path_info, self._handle, path)
        return value_of(struct, SessionInfo)  # type: ignore[no-any-return]

    @property
    def statistics(self) -> Statistics:
        struct = _calls.filled(_abi.Statistics, C.mnn_session_statistics, self._handle)
        return value_of(struct, Statistics)  # type: ignore[no-any-return]

    @property
    def flops(self) -> Tuple[float, bool]:
        """The operations of one run, and whether their number is complete."""
        with self._lock:
            return _calls.real_and_truth(C.mnn_session_flops, self._handle)

    def ops(self) -> Table[OpInfo]:
        """The operators in the order of execution."""
        with self._lock:
            count = _calls.size(C.mnn_session_op_count, self._handle)
            rows = [
                value_of(_calls.filled(_abi.OpInfo, C.mnn_session_op_info, self._handle, i), OpInfo)
                for i in range(count)
            ]
        return Table(rows, ("name", "type_name", "backend_name", "algorithm", "flops", "reason"))

    def constants(self) -> List[str]:
        """The names of the constants."""
        count = _calls.size(C.mnn_session_constant_count, self._handle)
        return [_calls.text(C.mnn_session_constant_name, self._handle, i) for i in range(count)]

    def constant(self, name: str) -> Tensor:
        """A constant, to be read and written. A write needs a resize() afterwards, unless operators of the net write
        the constant, too."""
        session: Any = self
        with self._lock:
            return Tensor(_calls.handle(C.mnn_session_constant, self._handle, _calls.encode(name, "name")), session)

    def report(self, what: str) -> str:
        """Text for people: "passes", "plan", "plan after:NAME" or "algorithms"; or JSON: "graph"."""
        with self._lock:
            data = _calls.content(C.mnn_session_report, self._handle, _calls.encode(what, "what"))
        return _calls.decode(data[:-1])

    def cache(self) -> bytes:
        """The compiled pipelines of a GPU session, for Interpreter.set_cache() of a later process."""
        with self._lock:
            return _calls.content(C.mnn_session_cache, self._handle)

    @property
    def cache_accepted(self) -> bool:
        """Whether the session used the cache that it was given."""
        return _calls.truth(C.mnn_session_cache_accepted, self._handle)

    def __repr__(self) -> str:
        if self.closed:
            return "<Session, closed>"
        names = f"{', '.join(self._inputs)} -> {', '.join(self._outputs)}"
        where = getattr(self.info.forward_type, "name", self.info.forward_type)
        return f"<Session on {where}, {self.info.threads} threads: {names}>"

    def _repr_html_(self) -> str:
        if self.closed:
            return "<p>Session, closed</p>"
        info = self.info
        settings = html_table(("setting", "value"), [(k, getattr(info, k)) for k in info.__annotations__], "Session")
        return settings + self.inputs._repr_html_() + self.outputs._repr_html_()
