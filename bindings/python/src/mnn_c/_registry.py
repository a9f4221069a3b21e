"""Objects that the library refers to by number: user_data of callbacks. They live until the library releases them."""

from __future__ import annotations

import itertools
import sys
import traceback
from types import SimpleNamespace
from typing import Any, Dict

from ._abi import Finalizer, LogCallback
from ._calls import decode
from ._failure import keep
from ._interrupt import program
from ._known import known
from .enums import LogLevel

_objects: Dict[int, Any] = {}
_numbers = itertools.count(1)


def add(item: Any) -> int:
    number = next(_numbers)
    _objects[number] = item
    return number


def restore(items: Dict[int, Any]) -> None:
    """Registers objects again, with the numbers that they had."""
    _objects.update(items)


def get(number: int) -> Any:
    return _objects[number]


def remove(number: int) -> None:
    _objects.pop(number, None)


def report(error: BaseException, where: Any) -> None:
    """Passes an exception that no call can raise again to the program's hook for exceptions of finalizers, else prints
    it, because Python's own hook takes only arguments that the interpreter makes."""
    message = "Exception ignored in a callback of mnn_c"
    try:
        if sys.unraisablehook is not sys.__unraisablehook__:
            kind, trace = type(error), error.__traceback__
            arguments: Any = SimpleNamespace(
                exc_type=kind, exc_value=error, exc_traceback=trace, err_msg=message, object=where
            )
            sys.unraisablehook(arguments)
        elif sys.stderr is not None:
            print(f"{message}: {where!r}", file=sys.stderr)
            traceback.print_exception(type(error), error, error.__traceback__)
    except KeyboardInterrupt as stop:
        keep(stop)
    except BaseException:  # the library would get an arbitrary result of the callback
        pass


def _call_finalizer(number: int) -> None:
    remove(number)


finalizer = Finalizer(_call_finalizer)


def _call_log(number: int, level: int, message: bytes) -> None:
    handler = get(number)
    try:
        program(handler, known(LogLevel, level), decode(message))
    except KeyboardInterrupt as error:
        keep(error)
    except BaseException as error:
        report(error, handler)


log = LogCallback(_call_log)
