"""Models of this process: sessions of equal models share one interpreter and one runtime, and so one copy of the
weights."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from typing import Optional, Tuple, Union

from ._node import StoredModel
from .enums import Load
from .interpreter import Interpreter
from .runtime import Runtime

if sys.platform != "win32":
    from ._shared_weights import SharedWeights

Model = Union[str, "os.PathLike[str]", StoredModel]
_Key = Tuple[str, int]


class ProcessModel:
    """An interpreter of the mapped file, and a runtime of `threads` CPU threads, for the sessions of this process."""

    def __init__(self, path: str, threads: int) -> None:
        self.interpreter = Interpreter(path, load_mode=Load.MAPPED)
        if sys.platform == "win32":  # there, files cannot be mapped in place of memory
            self.runtime = Runtime(threads)
        else:
            self.weights = SharedWeights()
            self.runtime = Runtime(threads, allocator=self.weights)
        self.lock = threading.Lock()
        self._planned = False

    def planned(self) -> None:
        """Shares the weights of the first session with other processes, except on Windows. Call it with the lock when a
        session is planned."""
        if not self._planned:
            self._planned = True
            if sys.platform != "win32":
                self.weights.share()


_models: "weakref.WeakValueDictionary[_Key, ProcessModel]" = weakref.WeakValueDictionary()
_lock = threading.Lock()


def process_model(model: Model, threads: int) -> ProcessModel:
    """Returns this process's interpreter of the model, which the first call loads."""
    path = model.path() if isinstance(model, StoredModel) else os.path.abspath(os.fspath(model))
    key = (path, threads)
    with _lock:
        found: Optional[ProcessModel] = _models.get(key)
        if found is None:
            _models[key] = found = ProcessModel(path, threads)
        return found
