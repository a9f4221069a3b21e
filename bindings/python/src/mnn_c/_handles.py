"""The base of all objects of the library: closing, `with`, and freeing objects that nothing refers to."""

from __future__ import annotations

import sys
import threading
from ctypes import byref, c_void_p
from typing import Any, Callable, Iterable, Optional, Type, TypeVar

from . import _interrupt, _registry
from ._failure import check
from .errors import BadHandleError

Self = TypeVar("Self", bound="Closable")
_closing = threading.RLock()  # a handler of a signal may close, too


class Closable:
    """An object with a handle of the library. close() works twice and from any thread."""

    _value: int = 0
    _destroy: Callable[[Any], int]

    @property
    def _handle(self) -> int:
        if not self._value:
            raise BadHandleError(f"this {type(self).__name__} is closed")
        return self._value

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return not self._value

    def _create(self, create: Callable[[int, Any], int], cancel: Any, numbers: Iterable[int] = ()) -> None:
        """Calls create(token, address of the handle), which Ctrl-C ends. Where it makes no object, the registered objects
        with these numbers are removed."""
        out = c_void_p()

        def created(token: int) -> int:
            status = create(token, byref(out))
            self._value = out.value or 0  # Ctrl-C raises only after this function
            return status

        try:
            check(_interrupt.call(created, cancel))
        finally:
            if not self._value:
                for number in numbers:
                    _registry.remove(number)

    def close(self) -> None:
        """Releases the object. Later uses raise BadHandleError."""

        def destroy() -> int:
            with _closing:
                value, self._value = self._value, 0
            status = self._destroy(byref(c_void_p(value))) if value else 0
            if status:
                self._value = value  # the object is in use, and stays usable
            return status

        check(_interrupt.held(destroy))  # Ctrl-C raises only after this function

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], value: Optional[BaseException], traceback: Any
    ) -> None:
        self.close()

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        value = self._value
        if value and not ending():  # when Python ends, callbacks that the library would call are already gone
            self._value = 0
            self._destroy(byref(c_void_p(value)))
