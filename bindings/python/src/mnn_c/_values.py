"""Makes descriptions of the structs that the library fills."""

from __future__ import annotations

from typing import Any, Dict

from . import enums
from ._calls import decode, decode_optional
from ._known import known


def value_of(struct: Any, kind: Any, **more: Any) -> Any:
    """Makes the dataclass `kind` from the fields of the same names of a struct of the library."""
    values: Dict[str, Any] = dict(more)
    for name, annotation in kind.__annotations__.items():
        if name in values:
            continue
        value = getattr(struct, name)
        if annotation == "GpuMode":
            value = enums.GpuMode(value)
        elif hasattr(enums, annotation):
            value = known(getattr(enums, annotation), value)
        elif annotation == "bool":
            value = bool(value)
        elif annotation == "str":
            value = decode(value)
        elif annotation == "Optional[str]":
            value = decode_optional(value)
        values[name] = value
    return kind(**values)
