"""The callbacks of a run, around each operator."""

from __future__ import annotations

from typing import Any, Callable, Optional, Sequence

from . import _abi
from ._failure import keep
from ._interrupt import program
from ._values import value_of
from .enums import Op
from .info import OpInfo
from .tensor import Tensor

OpCallback = Callable[[OpInfo, Sequence[Tensor]], Optional[Op]]


def native(callback: OpCallback) -> Any:
    """The function that the library calls. An exception ends the run, which raises it again."""

    def call(_: Any, op: Any, tensors: Any, count: int) -> int:
        try:
            info = value_of(op.contents, OpInfo)
            result = program(callback, info, [Tensor(tensors[i], None) for i in range(count)])
            return int(Op.RUN if result is None else result)
        except BaseException as error:
            keep(error)
            return Op.STOP

    return _abi.OpCallback(call)
