"""Sessions: a model ready to run."""

from __future__ import annotations

import contextlib
import sys
import threading
from ctypes import byref, c_int32, c_size_t, sizeof
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _abi, _callbacks, _calls, _interrupt
from ._callbacks import OpCallback
from ._failure import check
from ._library import C
from ._state import Stateful
from .cancel import CancelToken
from .config import SessionConfig, native
from .device_buffer import DeviceBuffer
from .dtypes import Array, address, dtype_of, elements, own_order, shape_in, type_of
from .enums import Format
from .errors import BusyError, NotFoundError
from .submitted import Pending, Run
from .tensor import Tensor

if TYPE_CHECKING:
    from .interpreter import Interpreter


class Session(Stateful):
    """A model prepared for a configuration and a set of input shapes. It may be used by any thread; calls take
    turns."""

    _destroy = C.mnn_session_destroy
    _run: Optional[Run] = None  # the last one that was submitted

    def __init__(
        self,
        interpreter: "Interpreter",
        config: Optional[SessionConfig] = None,
        *,
        paths: Optional[Sequence[SessionConfig]] = None,
        cancel: Optional[CancelToken] = None,
    ) -> None:
        self._lock = threading.RLock()
        self._layouts: Dict[int, Tuple[Any, int, Format]] = {}
        self._dims, self._rank = (c_int32 * _abi.MAX_RANK)(), c_size_t()
        self._rank_address = byref(self._rank)
        self._bound: Dict[int, Tuple[Array, memoryview, Format]] = {}
        self._interpreter = interpreter  # its bytes may be borrowed
        if paths is not None and config is not None:
            raise TypeError("a session has one configuration or one for each of its paths, not both")
        self.configs = tuple(paths) if paths is not None else (SessionConfig() if config is None else config,)
        made = [native(one) for one in self.configs]  # the originals keep the memory that their copies below point to
        structs = (_abi.ScheduleConfig * len(made))(*made)

        def create(token: int, out: Any) -> int:
            for struct in structs:
                struct.cancel = token
            status: int
            if paths is None:
                status = C.mnn_session_create(interpreter._handle, structs, out)
            else:
                status = C.mnn_session_create_paths(interpreter._handle, structs, len(made), out)
            return status

        self._create(create, cancel)
        self._inputs = self._tensors(C.mnn_session_input_count, C.mnn_session_input_at)
        self._outputs = self._tensors(C.mnn_session_output_count, C.mnn_session_output_at)
        self._run_options = _abi.RunOptions(struct_size=sizeof(_abi.RunOptions))

    def _tensors(self, count: Any, at: Any) -> Dict[str, int]:
        handles = [_calls.handle(at, self._handle, i) for i in range(_calls.size(count, self._handle))]
        return {_calls.text(C.mnn_tensor_name, handle): handle for handle in handles}

    def close(self) -> None:
        """Waits for a call or a submitted run and frees the session, with its tensors."""
        closed = False
        while not closed:
            # Waits without the lock, because callbacks of the run may call the session, which refuses them.
            self._settled(None)
            with self._lock:
                closed = self._settled(0)  # unless another thread has submitted a run meanwhile
                if closed:
                    super().close()
                    self._bound.clear()

    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if not ending():
            with contextlib.suppress(BusyError):  # in a callback on the thread of the run
                self._settled(None)
        super().__del__()

    def _settled(self, timeout: Optional[float]) -> bool:
        """Waits for the last submitted run; returns whether it is over."""
        run = self._run
        return run is None or run.settle(timeout)

    @property
    def config(self) -> SessionConfig:
        """The configuration; where there are several paths, that of the first one."""
        return self.configs[0]

    @property
    def interpreter(self) -> "Interpreter":
        return self._interpreter

    # ---- Inputs and outputs

    def input(self, name: Optional[str] = None) -> Tensor:
        """An input; None: the first."""
        text = None if name is None else _calls.encode(name, "name")
        return Tensor(_calls.handle(C.mnn_session_input, self._handle, text), self)

    def output(self, name: Optional[str] = None) -> Tensor:
        """An output; None: the first."""
        text = None if name is None else _calls.encode(name, "name")
        return Tensor(_calls.handle(C.mnn_session_output, self._handle, text), self)

    def _bind(self, tensor: Tensor, array: Optional[Array], layout: Format) -> None:
        handle = tensor._handle
        bind = C.mnn_session_bind_output if handle in self._outputs.values() else C.mnn_session_bind_input
        with self._lock:
            if array is None:
                check(bind(self._handle, handle, None, 0, layout))
                self._bound.pop(handle, None)
                return
            if bind is C.mnn_session_bind_output and not array.flags.writeable:
                raise ValueError(f"output '{tensor.name}' cannot be bound to an array that is read-only")
            view = array.data  # as long as it lives, the owner of the memory cannot resize it
            check(bind(self._handle, handle, address(array), array.nbytes, layout))
            self._bound[handle] = (array, view, layout)

    def _bind_buffer(self, tensor: Tensor, buffer: DeviceBuffer) -> None:
        handle = tensor._handle
        output = handle in self._outputs.values()
        bind = C.mnn_session_bind_output_buffer if output else C.mnn_session_bind_input_buffer
        with self._lock:
            check(bind(self._handle, handle, byref(buffer._struct())))
            self._bound.pop(handle, None)

    # ---- Running

    def __call__(self, *arrays: Any, cancel: Optional[CancelToken] = None) -> Any:
        """Runs the model: arrays in the order of its inputs; one array for one output, else a tuple of them."""
        if len(arrays) > len(self._inputs):
            raise TypeError(f"the model has {len(self._inputs)} inputs, {len(arrays)} arrays were given")
        results = self.run(dict(zip(self._inputs, arrays)), cancel=cancel)
        return next(iter(results.values())) if len(results) == 1 else tuple(results.values())

    def run(
        self,
        inputs: Union[Mapping[str, Any], None] = None,
        *,
        outputs: Optional[Sequence[str]] = None,
        cancel: Optional[CancelToken] = None,
        before: Optional[OpCallback] = None,
        after: Optional[OpCallback] = None,
        device_times: bool = False,
    ) -> Dict[str, Array]:
        """Writes inputs, runs, and reads outputs, as one step for other threads.

        inputs: arrays by name; the session is resized where a shape differs. Omitted inputs keep their contents.
        outputs: names of the only ones to read; None: all.
        before, after: called around each operator with its OpInfo and its inputs or outputs; they may return an Op.
        device_times: a GPU runs its operators one after another and measures each, for device_ms of `after`.
        Returns the outputs by name; those that are bound are the arrays that they are bound to.
        """
        with self._lock:
            if inputs:
                self._write(inputs, cancel)
            self.execute(cancel=cancel, before=before, after=after, device_times=device_times)
            return {name: self._read(name) for name in (self._outputs if outputs is None else outputs)}

    def execute(
        self,
        *,
        cancel: Optional[CancelToken] = None,
        before: Optional[OpCallback] = None,
        after: Optional[OpCallback] = None,
        device_times: bool = False,
    ) -> None:
        """Runs with the present contents of the inputs, and reads nothing."""
        with self._lock:
            handle = self._handle
            if before is None and after is None:
                if cancel is None and not _interrupt.applies():
                    check(C.mnn_session_run(handle))
                    return
                options = self._run_options
            else:
                options = _calls.prepared(_abi.RunOptions, C.mnn_run_options_init)
                if before is not None:
                    options.before = _callbacks.native(before)
                if after is not None:
                    options.after = _callbacks.native(after)
                options.device_times = device_times

            def run(token: int) -> int:
                options.cancel = token
                status: int = C.mnn_session_run_with_options(handle, byref(options))
                return status

            check(_interrupt.call(run, cancel))

    def submit(
        self,
        inputs: Union[Mapping[str, Any], None] = None,
        *,
        outputs: Optional[Sequence[str]] = None,
        cancel: Optional[CancelToken] = None,
    ) -> Pending:
        """Writes inputs, begins a run and returns without waiting for its end; Pending.result() gives the outputs.

        Runs are computed, also on a GPU, by one more thread, that of the session or of its runtime, in the order of the
        calls. Until the run was waited for, calls of the session raise BusyError; close() waits for it.
        """
        with self._lock:
            if inputs:
                self._write(inputs, cancel)
            run = Run(self._handle, CancelToken() if cancel is None else cancel, cancel is None)
            pending = Pending(self, run, self._outputs if outputs is None else outputs)
            _interrupt.held(lambda: run.begin(self))
            return pending

    def _write(self, inputs: Mapping[str, Any], cancel: Optional[CancelToken]) -> None:
        ready: List[Tuple[int, Array, int]] = []
        shapes: Dict[str, Tuple[int, ...]] = {}
        for name, values in inputs.items():
            handle = self._inputs.get(name)
            if handle is None:
                raise NotFoundError(f"there is no input '{name}'; the inputs are {', '.join(self._inputs)}")
            array, kind = elements(values)
            shape = self._shape(handle)
            if array.shape != shape:
                if shape and shape != (-1,) and array.ndim != len(shape):  # (-1,): not known
                    raise ValueError(
                        f"input '{name}' has {len(shape)} dimensions, {shape}, but the array has {array.ndim},"
                        f" {array.shape}; resize() gives an input another number of dimensions"
                    )
                shapes[name] = array.shape
            ready.append((handle, array, kind))
        if shapes or self.needs_resize:
            self.resize(shapes, cancel=cancel)
        for handle, array, element_type in ready:
            order = self._layout(handle)[2]
            check(C.mnn_tensor_write_as(handle, address(array), array.nbytes, element_type, order))

    def _read(self, name: str) -> Array:
        handle = self._outputs.get(name)
        if handle is None:
            raise NotFoundError(f"there is no output '{name}'; the outputs are {', '.join(self._outputs)}")
        shape = self._shape(handle)
        dtype, element_type, order = self._layout(handle)
        bound = self._bound.get(handle)
        if bound is not None and bound[0].shape == shape_in(shape, order, bound[2]):
            return bound[0]
        array: Array = np.empty(shape, dtype)
        check(C.mnn_tensor_read_as(handle, address(array), array.nbytes, element_type, order))
        return array

    def _shape(self, handle: int) -> Tuple[int, ...]:
        check(C.mnn_tensor_shape(handle, self._dims, _abi.MAX_RANK, self._rank_address))
        return tuple(self._dims[: self._rank.value])

    def _layout(self, handle: int) -> Tuple[Any, int, Format]:
        """Returns the dtype of a tensor, the element type to which it belongs, and its order; valid until the next
        resize."""
        layout = self._layouts.get(handle)
        if layout is None:
            info = _calls.filled(_abi.TensorProperties, C.mnn_tensor_info, handle)
            dtype = dtype_of(info.type)
            layout = (dtype, type_of(dtype), own_order(info.format))
            self._layouts[handle] = layout
        return layout

    async def run_async(
        self, inputs: Union[Mapping[str, Any], None] = None, *, executor: Any = None
    ) -> Dict[str, Array]:
        """run() on a thread of an executor; None: the event loop's. Cancelling the task ends the run."""
        import asyncio

        token = CancelToken()
        future = asyncio.get_running_loop().run_in_executor(executor, lambda: self.run(inputs, cancel=token))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            token.trigger()
            await asyncio.wait({future})  # the run must end before the task does
            if not future.cancelled():
                future.exception()
            raise

    # ---- Shapes

    def resize(
        self, shapes: Optional[Mapping[str, Sequence[int]]] = None, *, cancel: Optional[CancelToken] = None
    ) -> None:
        """Gives inputs other shapes and plans the session for them."""
        with self._lock:
            for name, shape in (shapes or {}).items():
                dims, rank = _calls.extents(shape)
                check(C.mnn_session_resize_input(self._handle, self.input(name)._handle, dims, rank))
            self._layouts.clear()
            options = _calls.prepared(_abi.ResizeOptions, C.mnn_resize_options_init)

            def resize(token: int) -> int:
                options.cancel = token
                status: int = C.mnn_session_resize_with_options(self._handle, byref(options))
                return status

            check(_interrupt.call(resize, cancel))

    @property
    def needs_resize(self) -> bool:
        """Whether the session is not planned for the shapes of its inputs."""
        return _calls.truth(C.mnn_session_needs_resize, self._handle)

    def trim(self) -> None:
        """Frees the memory of plans that are kept in addition to the one in use."""
        with self._lock:
            check(C.mnn_session_trim(self._handle))

    def __reduce__(self) -> Any:
        raise TypeError("a session cannot be pickled; pickle its interpreter and its config, and make it anew")
