"""Columns of rows as arrays of NumPy: checks, shapes, parts with padding, and results in the order of their rows."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Sequence, Tuple

import numpy as np

from .dtypes import Array
from .errors import NotFoundError

Columns = Dict[str, Array]


def check_names(what: str, names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise NotFoundError(f"there is no {what} '{name}'; there are: {', '.join(map(str, known))}")


def row_count(columns: Mapping[str, Array]) -> int:
    counts = {name: len(column) if column.ndim else -1 for name, column in columns.items()}
    if len(set(counts.values())) > 1 or -1 in counts.values():
        raise ValueError(f"the columns of a batch have different numbers of rows: {counts}")
    return next(iter(counts.values()), 0)


def dense(name: str, values: Any) -> Array:
    """Returns an array of numbers. Its rows may be sequences themselves, as in columns of lists."""
    array: Array = np.asarray(values)
    if array.dtype != object:
        return array
    rows = [dense(name, row) if isinstance(row, (np.ndarray, list, tuple)) else row for row in array]
    try:
        return np.stack([np.asarray(row) for row in rows]) if rows else np.empty(array.shape, np.float32)
    except ValueError:
        shapes = sorted({np.shape(row) for row in rows})
        raise ValueError(f"the rows for input '{name}' have different shapes: {shapes}") from None


def shaped(name: str, values: Any, count: int, row: Tuple[int, ...]) -> Array:
    """Returns the rows for an input whose rows have the shape `row`, where -1 stands for any extent."""
    array = dense(name, values)
    if not array.ndim or len(array) != count:
        raise ValueError(f"the rows for input '{name}' have the shape {array.shape}, which is not {count} rows")
    if array.ndim == len(row) + 1 and all(wanted in (-1, given) for given, wanted in zip(array.shape[1:], row)):
        return array
    try:
        return array.reshape((count, *row))
    except ValueError:
        raise ValueError(f"a row for input '{name}' has the shape {array.shape[1:]}; the model takes {row}") from None


def part(columns: Columns, start: int, rows: int) -> Columns:
    """Returns `rows` rows from `start` on; where there are fewer, the last one is repeated."""

    def padded(column: Array) -> Array:
        piece = column[start : start + rows]
        missing = rows - len(piece)
        return np.concatenate([piece, np.repeat(piece[-1:], missing, 0)]) if missing else piece

    return {name: padded(column) for name, column in columns.items()}


def chosen(columns: Columns, at: Array) -> Columns:
    return {name: column[at] for name, column in columns.items()}


def joined(parts: List[Columns]) -> Columns:
    """Returns the rows of all parts, one after another."""
    if len(parts) == 1:
        return parts[0]
    return {name: _concatenated(name, [part[name] for part in parts]) for name in parts[0]}


def _concatenated(name: str, arrays: List[Array]) -> Array:
    shapes = {array.shape[1:] for array in arrays}
    if len(shapes) > 1:
        raise ValueError(f"output '{name}' has rows of different shapes: {sorted(shapes)}")
    return np.concatenate(arrays)


def scattered(values: Array, at: Array, count: int) -> Array:
    """Returns an array of `count` rows that has `values` in the rows `at`; other rows are zeros, or NaN or None where
    the type has it."""
    array = np.zeros((count, *values.shape[1:]), values.dtype)
    if np.issubdtype(values.dtype, np.floating):
        array.fill(np.nan)
    elif values.dtype == object:
        array.fill(None)
    array[at] = values
    return array
