"""Numbers of the library as members of enumerations."""

from __future__ import annotations

from enum import IntEnum
from typing import Type, TypeVar

Enum = TypeVar("Enum", bound=IntEnum)


def known(kind: Type[Enum], value: int) -> Enum:
    """Returns the member with that value, or the plain number where this version has no name for it."""
    try:
        return kind(value)
    except ValueError:
        return value  # type: ignore[return-value]
