"""An interpreter, which holds a model."""

from __future__ import annotations

import os
from ctypes import byref, c_char_p, c_size_t
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _abi, _calls, _interrupt, _registry, weights
from ._calls import absolute, encode
from ._failure import check
from ._handles import Closable
from ._known import known
from ._library import C
from ._values import value_of
from .cancel import CancelToken
from .config import SessionConfig
from .dtypes import dtype_of
from .enums import ElementType, Format, Keep, Load, LogLevel
from .info import ModelInfo
from .operators import Operator, register
from .runtime import LogHandler
from .session import Session
from .tables import Table, html_table
from .weights import ExternalWeights

Path = Union[str, "os.PathLike[str]"]
Bytes = Union[bytes, bytearray, memoryview]


@dataclass(frozen=True)
class Declaration:
    """An input or an output as known before a session exists. A field is None where only a session knows its value;
    declared_type is None where the file states no type."""

    name: str
    declared_type: Optional[ElementType]
    type: Optional[ElementType]
    shape: Optional[Tuple[int, ...]]
    format: Optional[Format]


@dataclass(frozen=True)
class ModelOp:
    """An operator of the file."""

    name: str
    type_name: str
    supported: bool
    outputs: "tuple[str, ...]"


def _declarations(handle: Any, count: Any, info: Any) -> Table[Declaration]:
    rows = []
    for i in range(_calls.size(count, handle)):
        struct = _calls.filled(_abi.Declaration, info, handle, i)
        rows.append(
            Declaration(
                _calls.decode(struct.name),
                known(ElementType, struct.declared_type) if struct.declared_type else None,
                known(ElementType, struct.type) if struct.type else None,
                tuple(struct.dims[: struct.rank]) if struct.rank >= 0 else None,
                known(Format, struct.format) if struct.format >= 0 else None,
            )
        )
    return Table(rows, ("name", "declared_type", "type", "shape", "format"))


@dataclass(frozen=True)
class ModelInput:
    """An input as the model declares it; -1 for an open extent."""

    name: str
    type: ElementType
    shape: Tuple[int, ...]
    format: Format

    @property
    def dtype(self) -> "np.dtype[Any]":
        return dtype_of(self.type)


def _converted(path: str, cancel: Optional[CancelToken]) -> Tuple[bytes, Optional[bytes]]:
    """Returns the .mnn model of an ONNX file, and its weights where they are stored separately."""
    from . import onnx  # opens libmnn_c_onnx, which other models do not need

    made = onnx.convert(path, cancel=cancel)
    return made.data, made.weights or None


class Interpreter(Closable):
    """A model, from a file or from bytes. Sessions of it stay usable when it is closed.

    It is pickled as the path of its file, or as its bytes where it was made from bytes; `pickle_by` changes that.
    """

    _destroy = C.mnn_interpreter_destroy

    def __init__(
        self,
        source: Union[Path, Bytes],
        *,
        load_mode: Load = Load.DEFAULT,
        external_weights: Optional[ExternalWeights] = None,
        log: Optional[LogHandler] = None,
        log_level: LogLevel = LogLevel.DEFAULT,
        attention_scale: float = 0,
        cancel: Optional[CancelToken] = None,
    ) -> None:
        """source: the path of a .mnn file, or the bytes of one; an .onnx file is converted first (mnn_c.onnx).
        external_weights: the path of their file, their bytes, which are kept, or a WeightReader; None: the file beside
        the model. log is called with a level and a line for each message, on the thread of the call that caused it.
        attention_scale: the factor of the scores of Attention operators for which the file has none;
        0: 1 / sqrt(depth of a head)."""
        options = _calls.prepared(_abi.InterpreterOptions, C.mnn_interpreter_options_init)
        options.load_mode, options.log_level = load_mode, log_level
        options.attention_scale = attention_scale
        given_weights = external_weights
        self.path: Optional[str] = None
        self._converted_weights: Optional[bytes] = None
        if not isinstance(source, (bytes, bytearray, memoryview)):
            self.path = absolute(source)
            if self.path.lower().endswith(".onnx"):
                if external_weights is not None:
                    raise ValueError("external_weights belong to .mnn models; an ONNX model names its files itself")
                source, self._converted_weights = _converted(self.path, cancel)
                external_weights = self._converted_weights
                if load_mode not in (Load.DEFAULT, Load.BORROW):
                    load_mode = options.load_mode = Load.DEFAULT
        memory: Any = None
        path = b""
        if isinstance(source, (bytes, bytearray, memoryview)):
            memory = weights.borrow(source)
        else:
            path = encode(absolute(source), "path")
        # Numbers of registered objects. The library releases weights and bytes even when the load fails, and log only
        # after a load that succeeded.
        numbers = [weights.give(options, external_weights)]
        if memory is not None and load_mode == Load.BORROW:
            numbers.append(_registry.add(memory))
            options.bytes_finalizer, options.bytes_user_data = _registry.finalizer, numbers[-1]
        given = {each: _registry.get(each) for each in numbers if each}
        number = 0
        if log is not None:
            number = _registry.add(log)
            options.log_callback, options.log_finalizer = _registry.log, _registry.finalizer
            options.log_user_data = number

        def create(token: int, out: Any) -> int:
            _registry.restore(given)  # an attempt that Ctrl-C ended has released them
            options.cancel = token
            status: int
            if memory is None:
                status = C.mnn_interpreter_create_from_file(path, byref(options), out)
            else:
                address, size = memory.ctypes.data, memory.size
                status = C.mnn_interpreter_create_from_memory(address, size, byref(options), out)
            return status

        self._create(create, cancel, (number, *numbers))
        self.pickle_by = "bytes" if self.path is None else "path"
        self._operators: List[Tuple[str, Operator]] = []
        self._options: Dict[str, Any] = {
            "load_mode": load_mode,
            "external_weights": weights.kept(given_weights),
            "log": log,
            "log_level": log_level,
            "attention_scale": attention_scale,
        }

    # ---- Sessions and operators

    def session(
        self, config: Optional[SessionConfig] = None, *, cancel: Optional[CancelToken] = None, **fields: Any
    ) -> Session:
        """Creates a session with a configuration; `fields` change single fields: net.session(threads=4)."""
        return Session(self, replace(SessionConfig() if config is None else config, **fields), cancel=cancel)

    def session_paths(
        self, configs: Sequence[SessionConfig], *, cancel: Optional[CancelToken] = None
    ) -> Session:
        """A session of several parts of the model that run one after another, each as its own configuration says.

        `inputs`, `outputs` and `operators` say which part. A path reads what earlier ones make and does not compute it
        again; one without names computes the rest of the model. An error names the path.
        """
        return Session(self, paths=configs, cancel=cancel)

    def add_operator(self, name: str, operator: Any) -> None:
        """Makes an Operator, or a function of arrays, compute the nodes of a type that the library does not have. Call
        it before the first session is created."""
        kept = register(self._handle, name, operator)
        self._operators.append((name, kept))

    # ---- Descriptions of the model

    @property
    def inputs(self) -> Table[ModelInput]:
        rows = []
        for i in range(_calls.size(C.mnn_interpreter_input_count, self._handle)):
            struct = _calls.filled(_abi.Declaration, C.mnn_interpreter_input_info, self._handle, i)
            name, shape = _calls.decode(struct.name), tuple(struct.dims[: struct.rank])
            rows.append(ModelInput(name, known(ElementType, struct.type), shape, known(Format, struct.format)))
        return Table(rows, ("name", "dtype", "shape", "format"))

    @property
    def outputs(self) -> List[str]:
        """The names of the outputs."""
        count = _calls.size(C.mnn_interpreter_output_count, self._handle)
        return [_calls.text(C.mnn_interpreter_output_name, self._handle, i) for i in range(count)]

    @property
    def declared_inputs(self) -> Table[Declaration]:
        """The inputs with the types of the file."""
        return _declarations(self._handle, C.mnn_interpreter_input_count, C.mnn_interpreter_input_info)

    @property
    def declared_outputs(self) -> Table[Declaration]:
        """The outputs as far as they follow from the declared inputs. For open extents several sizes are tried."""
        return _declarations(self._handle, C.mnn_interpreter_output_count, C.mnn_interpreter_output_info)

    def ops(self) -> Table[ModelOp]:
        """The operators of the file: the main graph's, then those of each subgraph."""
        handle, rows = self._handle, []
        for i in range(_calls.size(C.mnn_interpreter_op_count, handle)):
            outputs = range(_calls.size(C.mnn_interpreter_op_output_count, handle, i))
            rows.append(
                ModelOp(
                    _calls.text(C.mnn_interpreter_op_name, handle, i),
                    _calls.text(C.mnn_interpreter_op_type, handle, i),
                    _calls.truth(C.mnn_interpreter_op_supported, handle, i),
                    tuple(_calls.text(C.mnn_interpreter_op_output_name, handle, i, k) for k in outputs),
                )
            )
        return Table(rows, ("name", "type_name", "supported", "outputs"))

    @property
    def info(self) -> ModelInfo:
        struct = _calls.filled(_abi.ModelProperties, C.mnn_interpreter_info, self._handle)
        pairs: Dict[str, str] = {}
        for i in range(struct.metadata_count):
            key, value = c_char_p(), c_char_p()
            check(C.mnn_interpreter_metadata(self._handle, i, byref(key), byref(value)))
            pairs[_calls.decode(key.value)] = _calls.decode(value.value)
        return value_of(struct, ModelInfo, metadata=pairs)  # type: ignore[no-any-return]

    @property
    def uuid(self) -> str:
        return _calls.text(C.mnn_interpreter_uuid, self._handle)

    @property
    def model_version(self) -> str:
        """The converter release that wrote the model."""
        return _calls.text(C.mnn_interpreter_model_version, self._handle)

    @property
    def biz_code(self) -> str:
        return _calls.text(C.mnn_interpreter_biz_code, self._handle)

    @property
    def parameter_count(self) -> int:
        """The number of elements of all weights, biases and constants."""
        return _calls.number64(C.mnn_interpreter_parameter_count, self._handle)

    def report(self, what: str) -> str:
        """Describes the model as JSON: "graph", the operators and the tensors between them."""
        return _calls.decode(_calls.content(C.mnn_interpreter_report, self._handle, encode(what, "what"))[:-1])

    # ---- Constants, bytes and caches

    def update_constants(self, session: Session) -> None:
        """Stores the constants that a session wrote in the model. It is pickled as bytes from now on."""
        with session._lock:
            check(C.mnn_interpreter_update_constants(self._handle, session._handle))
        self.pickle_by = "bytes"

    def model_bytes(self) -> bytes:
        """The bytes of the model, with the constants of update_constants()."""
        return _calls.content(C.mnn_interpreter_model_bytes, self._handle)

    def save(self, path: Path) -> None:
        """Writes model_bytes() to a file, which a failure does not change."""
        check(C.mnn_interpreter_save(self._handle, encode(os.fspath(path), "path")))

    def release_model(self, keep: Keep = Keep.NOTHING) -> None:
        """Frees the bytes of the model. Sessions go on running; no others can be created. With Keep.WEIGHTS they are
        resized to any shape, else as far as the weights that are prepared suffice."""
        if keep == Keep.NOTHING:
            check(C.mnn_interpreter_release_model(self._handle))
        else:
            handle = self._handle
            check(_interrupt.held(lambda: C.mnn_interpreter_release_model_keeping(handle, int(keep))))

    def set_cache_file(self, path: Optional[Path]) -> None:
        """Names the file that keeps compiled pipelines of GPU sessions; None removes the name."""
        text = None if path is None else encode(os.fspath(path), "path")
        check(C.mnn_interpreter_set_cache_file(self._handle, text))

    def set_cache(self, data: bytes) -> None:
        """Sets the bytes of Session.cache(), which are used in place of a cache file; b"" removes them."""
        check(C.mnn_interpreter_set_cache(self._handle, data or None, c_size_t(len(data))))

    def update_cache_file(self, session: Session) -> None:
        """Writes the cache file again if a session prepared more than it holds."""
        with session._lock:
            check(C.mnn_interpreter_update_cache_file(self._handle, session._handle))

    def __reduce__(self) -> Any:
        if self.pickle_by not in ("path", "bytes"):
            raise ValueError(f"pickle_by is '{self.pickle_by}'; it may be 'path' or 'bytes'")
        options = dict(self._options)
        source: Any = self.path
        if self.pickle_by == "bytes" or source is None:
            source = self.model_bytes()
            options["load_mode"] = Load.DEFAULT
            if options["external_weights"] is None and self.path and os.path.exists(self.path + ".weight"):
                options["external_weights"] = self.path + ".weight"
            if options["external_weights"] is None:
                options["external_weights"] = self._converted_weights
        return _restore, (source, options, self._operators, self.pickle_by)

    def __repr__(self) -> str:
        if self.closed:
            return "<Interpreter, closed>"
        inputs = ", ".join(f"{i.name} {i.dtype}{list(i.shape)}" for i in self.inputs)
        return f"<Interpreter of {self.path or 'bytes'}: {inputs} -> {', '.join(self.outputs)}>"

    def _repr_html_(self) -> str:
        if self.closed:
            return "<p>Interpreter, closed</p>"
        rows = [("path", self.path or "bytes"), ("parameters", self.parameter_count), ("outputs", ", ".join(self.outputs))]
        return html_table(("model", ""), rows) + self.inputs._repr_html_()


def _restore(source: Any, options: Dict[str, Any], operators: List[Tuple[str, Any]], pickle_by: str) -> Interpreter:
    net = Interpreter(source, **options)
    for name, operator in operators:
        net.add_operator(name, operator)
    net.pickle_by = pickle_by
    return net
