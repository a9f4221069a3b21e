"""Rows of values as a list that prints itself as a table, as text and in notebooks."""

from __future__ import annotations

import html
from typing import Any, Generic, List, Sequence, Tuple, TypeVar, overload

Row = TypeVar("Row")


def as_text(value: Any) -> str:
    """Returns the text of a value in a cell."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(getattr(value, "name", value))


def html_table(header: Sequence[str], rows: Sequence[Sequence[Any]], caption: str = "") -> str:
    """Returns a table for notebooks."""

    def line(tag: str, cells: Sequence[Any]) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(as_text(c))}</{tag}>" for c in cells) + "</tr>"

    title = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    body = "".join(line("td", row) for row in rows)
    return f"<table>{title}<thead>{line('th', header)}</thead><tbody>{body}</tbody></table>"


class Table(Sequence[Row], Generic[Row]):
    """Rows of one kind: a sequence of objects, shown as a table of the columns that have a value."""

    def __init__(self, rows: Sequence[Row], columns: Sequence[str]) -> None:
        self._rows: Tuple[Row, ...] = tuple(rows)
        self.columns: Tuple[str, ...] = tuple(columns)

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> "Table[Row]": ...

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Table(self._rows[index], self.columns)
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def _cells(self) -> List[List[str]]:
        return [[as_text(getattr(row, column)) for column in self.columns] for row in self._rows]

    def __repr__(self) -> str:
        lines = [list(self.columns)] + self._cells()
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        return "\n".join("  ".join(c.ljust(w) for c, w in zip(line, widths)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        return html_table(self.columns, self._cells())
