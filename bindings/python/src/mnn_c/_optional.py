"""Packages that a part of this one needs and that are not installed with it."""

from __future__ import annotations

import importlib
from typing import Any


def needed(module: str, extra: str) -> Any:
    """Returns the module, or raises an ImportError that says what to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"mnn_c.{extra} needs the package '{module.partition('.')[0]}', which cannot be imported ({error});"
            f" 'pip install mnn-c[{extra}]' installs it"
        ) from error
