"""Tensors of a session: NumPy in and out, and memory that runs use in place."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Optional, Tuple

import numpy as np

from . import _abi, _calls
from ._failure import check
from ._known import known
from ._library import C
from ._values import value_of
from .device_buffer import DeviceBuffer, device_buffer_of
from .dtypes import Array, address, dtype_of, elements, own_order, shape_in, type_of
from .enums import BufferKind, ElementType, Format
from .errors import BadStateError
from .info import TensorInfo

if TYPE_CHECKING:
    from .session import Session


class Tensor:
    """An input, an output or a constant of a session, which the tensor keeps alive. A tensor of a callback is valid
    during the callback only."""

    def __init__(self, handle: int, session: "Optional[Session]") -> None:
        self._handle = handle
        self._session = session

    @property
    def session(self) -> "Optional[Session]":
        """The session that the tensor belongs to; None for a tensor of a callback."""
        return self._session

    @property
    def name(self) -> str:
        return _calls.text(C.mnn_tensor_name, self._handle)

    @property
    def shape(self) -> Tuple[int, ...]:
        """The present shape in the order of `format`; -1 for an open extent."""
        return _calls.shape(C.mnn_tensor_shape, self._handle)

    @property
    def nchw(self) -> Tuple[int, int, int, int]:
        """Batch, channel, height and width of a tensor of four dimensions, whichever order the tensor has."""
        values = (ctypes.c_int32 * 4)()
        check(C.mnn_tensor_nchw(self._handle, values))
        return values[0], values[1], values[2], values[3]

    @property
    def type(self) -> ElementType:
        return known(ElementType, self._properties().type)

    @property
    def dtype(self) -> "np.dtype[Any]":
        """NumPy's type for the elements; float32 for bfloat16, which NumPy does not have."""
        return dtype_of(self.type)

    @property
    def format(self) -> Format:
        return known(Format, self._properties().format)

    @property
    def size(self) -> int:
        """The number of elements."""
        return _calls.size(C.mnn_tensor_element_count, self._handle)

    def byte_size(self, format: Optional[Format] = None) -> int:
        """The bytes of the elements in a format; None: the tensor's own order."""
        return _calls.size(C.mnn_tensor_byte_size, self._handle, own_order(self.format) if format is None else format)

    @property
    def info(self) -> TensorInfo:
        return value_of(self._properties(), TensorInfo)  # type: ignore[no-any-return]

    def _properties(self) -> _abi.TensorProperties:
        return _calls.filled(_abi.TensorProperties, C.mnn_tensor_info, self._handle)

    def write(self, values: Any, format: Optional[Format] = None) -> None:
        """Copies elements of any numeric type into an input or a constant and converts them.

        values: an array, or what numpy.asarray() takes, of the tensor's shape in `format`.
        format: the layout of the values; None: the tensor's own order.
        """
        array, kind = elements(values)
        own = self.format
        layout = own_order(own) if format is None else format
        wanted = shape_in(self.shape, own, layout)
        if array.shape != wanted:
            raise ValueError(f"tensor '{self.name}' is of shape {wanted}, the values are of shape {array.shape}")
        check(C.mnn_tensor_write_as(self._handle, address(array), array.nbytes, kind, layout))

    def read(self, dtype: Any = None, format: Optional[Format] = None) -> Array:
        """A new array with the elements.

        dtype: of the array; None: the tensor's own.
        format: the layout of the array; None: the tensor's own order.
        """
        own = self.format
        layout = own_order(own) if format is None else format
        wanted = self.dtype if dtype is None else np.dtype(dtype)
        array: Array = np.empty(shape_in(self.shape, own, layout), wanted.newbyteorder("="))
        check(C.mnn_tensor_read_as(self._handle, address(array), array.nbytes, type_of(array.dtype), layout))
        return array.astype(wanted, copy=False)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        """Implements numpy.asarray(tensor)."""
        if copy is False:
            raise ValueError("the elements of a tensor are copied; bind() makes runs use an array in place")
        return self.read(dtype)

    def bind(self, array: Optional[Array] = None, format: Optional[Format] = None) -> Array:
        """Makes runs read this input from an array, or write this output into it, in place of the session's memory.

        array: C-contiguous, of the tensor's shape and type, for an output writeable; None: a new one. The session keeps
            it alive as long as it is bound. Leave it alone while the session runs.
        format: the layout of the array. Only the tensor's own order avoids a copy.
        Returns the array.
        """
        session = self._session
        if session is None:
            raise BadStateError("a tensor of a callback cannot be bound")
        own = self.format
        layout = own_order(own) if format is None else format
        shape, kind = shape_in(self.shape, own, layout), self.type
        if kind == ElementType.BFLOAT16:
            raise TypeError("NumPy has no bfloat16, so a tensor of this type cannot be bound")
        if array is None:
            array = np.zeros(shape, dtype_of(kind))
        if not isinstance(array, np.ndarray):
            raise TypeError(f"only an array of NumPy can be bound, not {type(array).__name__}")
        if array.shape != shape or array.dtype != dtype_of(kind) or not array.flags.c_contiguous:
            raise ValueError(
                f"tensor '{self.name}' needs a C-contiguous array of {dtype_of(kind)} and shape {shape}; the given one"
                f" is of {array.dtype}, shape {array.shape} and strides {array.strides}"
            )
        session._bind(self, array, layout)
        return array

    def bind_buffer(self, buffer: DeviceBuffer) -> None:
        """Makes runs of a session on a GPU read this input from a buffer of its device, or write this output into it,
        so that nothing passes through the host. Commands submitted to the session's queue before a run are over when it
        uses the buffer, and those behind it see its results. The caller keeps the buffer as long as it is bound.
        """
        if self._session is None:
            raise BadStateError("a tensor of a callback cannot be bound")
        self._session._bind_buffer(self, buffer)

    def device_buffer(self, kind: BufferKind = BufferKind.VULKAN) -> DeviceBuffer:
        """The place of this tensor on the device: the buffer that it is bound to or, for an output that is not bound,
        the session's buffer with its contents after a run, until the next resize, trim or binding."""
        return device_buffer_of(self._handle, kind)

    def unbind(self) -> None:
        """Ends bind() and bind_buffer(): the session's own memory is used again."""
        if self._session is not None:
            self._session._bind(self, None, Format.NCHW)

    def text(self, edge: int = 3) -> str:
        """The elements as text; edge: how many positions to show at both ends of an axis, 0 for all."""
        return _calls.decode(_calls.content(C.mnn_tensor_print, self._handle, edge)[:-1])

    def __repr__(self) -> str:
        try:
            return f"<Tensor '{self.name}' {self.dtype}{list(self.shape)} {self.format.name}>"
        except Exception as error:
            return f"<Tensor: {error}>"
