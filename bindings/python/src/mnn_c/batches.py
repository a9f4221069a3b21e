"""Predictions for rows of tables, batch by batch, which mnn_c.ray and mnn_c.spark run in each of their workers.

    predict = mnn_c.batches.Predictor("digits.mnn", outputs={"digit": lambda out: out["scores"].argmax(1)})
    table = predict({"id": ids, "image": images})       # {"id": ..., "image": ..., "digit": ...}
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

import numpy as np

from . import _columns
from . import errors as _errors
from ._processes import Model, ProcessModel, process_model
from .config import SessionConfig
from .dtypes import Array
from .session import Session

Columns = Dict[str, Array]
RowsOf = Union[str, Callable[[Columns], Any]]  # a name, or a function of all columns or outputs
Input = Union[RowsOf, Array]
Output = RowsOf

DEFAULT_ROWS = 32
# Errors that may not occur again with a new session. All others would occur again.
PASSING = (_errors.OutOfMemoryError, _errors.DeviceLostError, _errors.DriverError)


@dataclass(frozen=True)
class Counts:
    """Counts of a predictor's work, or of the part that one batch added."""

    batches: int = 0
    rows: int = 0
    failed_rows: int = 0
    runs: int = 0
    padded_rows: int = 0
    retries: int = 0
    seconds: float = 0.0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*(mine + its for mine, its in zip(vars(self).values(), vars(other).values())))


class Predictor:
    """Runs a model over batches, which are columns of as many rows each. It belongs to one thread at a time.

    model: the path of a file that does not change while it is in use, or a StoredModel (mnn_c.ray.put,
        mnn_c.spark.store).
    inputs: for each input of the model a column, a function of the batch that gives its rows, or an array that is the
        same for all rows; those that are left out are columns of the inputs' names. Rows are reshaped where the model's
        rows have as many elements in another shape.
    outputs: the new columns: an output of the model, or a function of all outputs that gives the column's rows. None: a
        column for each output.
    keep: columns of the batch that the result keeps; None: all.
    rows: how many rows a run takes. All runs take as many, with copies of the last row where there are fewer, so a
        row's result does not depend on the batch that it came in. None: what the model declares if that is above 1,
        else 32.
    retries: how often a run that failed for lack of memory or for a lost GPU is tried again, each time with a new
        session.
    errors: "raise", or "rows": rows whose input cannot be converted or run get zeros, or NaN, in the new columns, and
        the sentence in a column `error`, which is "" for the others.
    threads: CPU threads of a run.
    progress: called after each batch with its Counts.
    config, fields: how sessions run: forward_type, precision, ...
    """

    def __init__(
        self,
        model: Model,
        *,
        inputs: Optional[Mapping[str, Input]] = None,
        outputs: Optional[Mapping[str, Output]] = None,
        keep: Optional[Sequence[str]] = None,
        rows: Optional[int] = None,
        retries: int = 2,
        errors: str = "raise",
        threads: int = 1,
        progress: Optional[Callable[[Counts], Any]] = None,
        config: Optional[SessionConfig] = None,
        **fields: Any,
    ) -> None:
        if errors not in ("raise", "rows"):
            raise ValueError(f"errors is '{errors}'; it may be 'raise' or 'rows'")
        if rows is not None and rows < 1:
            raise ValueError(f"rows is {rows}; a run takes at least one row")
        if retries < 0:
            raise ValueError(f"retries is {retries}; it cannot be negative")
        if isinstance(keep, str):
            raise TypeError(f"keep is a sequence of columns, not one text: {keep!r}")
        self.counts = Counts()
        self._added = Counts()
        self.progress = progress
        self._errors, self._retries = errors, retries
        self._model: ProcessModel = process_model(model, threads)
        self._config = replace(SessionConfig() if config is None else config, **fields)
        net = self._model.interpreter
        names = [each.name for each in net.inputs]
        given = dict(inputs or {})
        _columns.check_names("input", given, names)
        self._same = {name: each for name, each in given.items() if isinstance(each, np.ndarray)}
        self._sources: Dict[str, RowsOf] = {name: name for name in names if name not in self._same}
        self._sources.update((name, each) for name, each in given.items() if not isinstance(each, np.ndarray))
        offered = [*(self._config.outputs or net.outputs), *self._config.save_tensors]
        self._outputs: Dict[str, Output] = dict({name: name for name in offered} if outputs is None else outputs)
        plain = [each for each in self._outputs.values() if isinstance(each, str)]
        _columns.check_names("output", plain, offered)
        self._read = plain if len(plain) == len(self._outputs) else None  # functions may read any output
        self._keep = None if keep is None else list(keep)
        shapes = {each.name: each.shape for each in net.inputs if each.name in self._sources}
        for name, shape in shapes.items():
            if not shape:
                raise ValueError(f"input '{name}' has no dimension for rows; give it as an array, the same for all rows")
        declared = next(iter(shapes.values()), (0,))[0]
        self.rows: int = rows or (declared if declared > 1 else DEFAULT_ROWS)
        self._shapes = {name: shape[1:] for name, shape in shapes.items()}  # of a row; -1 where it is not known
        self._session: Optional[Session] = self._open()

    def __call__(self, batch: Mapping[str, Any]) -> Columns:
        """Returns the columns of the batch that are kept, and the new ones."""
        begin = time.perf_counter()
        columns = {name: np.asarray(column) for name, column in batch.items()}
        count = _columns.row_count(columns)
        self._added = Counts(batches=1, rows=count)
        wanted = [each for each in self._sources.values() if isinstance(each, str)]
        _columns.check_names("column", [*wanted, *(self._keep or ())], list(columns))
        messages = np.full(count, "", object)
        results: List[Columns] = []
        self._predict(columns, np.arange(count), messages, results)
        good = np.flatnonzero(messages == "")
        made = self._mapped(_columns.joined(results), len(good)) if len(good) else self._nothing()
        table = {name: columns[name] for name in (columns if self._keep is None else self._keep)}
        for name, values in made.items():
            table[name] = values if len(good) == count else _columns.scattered(values, good, count)
        if self._errors == "rows":
            table["error"] = messages
        self._added += Counts(failed_rows=count - len(good), seconds=time.perf_counter() - begin)
        self.counts += self._added
        if self.progress is not None:
            self.progress(self._added)
        return table

    def close(self) -> None:
        """Closes the session; the next batch makes another one."""
        if self._session is not None:
            self._session.close()
            self._session = None

    # ---- Rows

    def _predict(self, columns: Columns, at: Array, messages: Array, results: List[Columns]) -> None:
        """Appends the outputs of the rows `at`. Where something fails, halves are tried, down to the failing row."""
        if not len(at):
            return
        try:
            results.append(self._run_all(columns if len(at) == len(messages) else _columns.chosen(columns, at), len(at)))
        except PASSING:
            raise
        except Exception as error:
            if self._errors == "raise":
                raise
            if len(at) == 1:
                messages[at[0]] = f"{type(error).__name__}: {error}"
                return
            middle = len(at) // 2
            self._predict(columns, at[:middle], messages, results)
            self._predict(columns, at[middle:], messages, results)

    def _run_all(self, columns: Columns, count: int) -> Columns:
        """Returns the outputs for all rows of the columns."""
        arrays = {
            name: _columns.shaped(name, each(columns) if callable(each) else columns[each], count, self._shapes[name])
            for name, each in self._sources.items()
        }
        starts = range(0, count, self.rows)
        return _columns.joined(
            [self._run(_columns.part(arrays, start, self.rows), min(self.rows, count - start)) for start in starts]
        )

    def _run(self, arrays: Columns, count: int) -> Columns:
        """Returns the outputs of one run; only the first `count` rows are valid."""
        for attempt in range(self._retries + 1):
            try:
                if self._session is None:
                    self._session = self._open()
                self._added += Counts(runs=1, padded_rows=self.rows - count, retries=1 if attempt else 0)
                outputs = self._session.run({**self._same, **arrays}, outputs=self._read)
                break
            except PASSING:
                self.close()
                if attempt == self._retries:
                    raise
        for name, values in outputs.items():
            if not values.ndim or len(values) != self.rows:
                raise ValueError(
                    f"output '{name}' has the shape {values.shape}, so it has no row for each of the {self.rows} rows of a"
                    " run; `rows` names the number that the model takes"
                )
        return {name: values[:count] for name, values in outputs.items()}

    def _mapped(self, outputs: Columns, count: int) -> Columns:
        table = {}
        for name, each in self._outputs.items():
            values = np.asarray(each(outputs)) if callable(each) else outputs[each]
            if not values.ndim or len(values) != count:
                raise ValueError(f"the function of column '{name}' made {values.shape} of {count} rows")
            table[name] = values
        return table

    def _nothing(self) -> Columns:
        """Returns the new columns, with their types, for no rows: those of a run over zeros."""
        shapes = {name: (self.rows, *(max(extent, 1) for extent in shape)) for name, shape in self._shapes.items()}
        zeros = {name: np.zeros(shape, np.uint8) for name, shape in shapes.items()}
        return {name: values[:0] for name, values in self._mapped(self._run(zeros, self.rows), self.rows).items()}

    def _open(self) -> Session:
        """Returns a session, planned for `rows` rows where the shape of a row is known."""
        shapes = {name: (self.rows, *shape) for name, shape in self._shapes.items()}
        shapes.update((name, value.shape) for name, value in self._same.items())
        with self._model.lock:
            session = self._model.interpreter.session(self._config, runtime=self._model.runtime, defer_planning=True)
            if all(extent >= 0 for shape in shapes.values() for extent in shape):
                session.resize(shapes)
                self._model.planned()
        return session
