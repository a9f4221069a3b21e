"""Own operators: Python computes nodes that the library does not run."""

from __future__ import annotations

import ctypes
from ctypes import byref
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _abi, _calls, _registry
from ._calls import decode, encode
from ._failure import check, keep
from ._interrupt import program
from ._known import known
from ._library import C
from .dtypes import Array, dtype_of, type_of
from .enums import ElementType, Format
from .errors import (
    BadTypeError,
    BusyError,
    CallbackStopError,
    ComputeSizeError,
    Error,
    InputDataError,
    WaitTimeoutError,
)


@dataclass(frozen=True)
class HostTensor:
    """A tensor of a node. shape is None where it is not known, and data where the elements are not known."""

    name: str
    type: ElementType
    format: Format
    shape: Optional[Tuple[int, ...]]
    data: Optional[Array]


@dataclass(frozen=True)
class Attribute:
    """A named value of the file. The format does not record which fields are in use; the others are 0 or empty."""

    key: str
    int_value: int
    float_value: float
    bool_value: bool
    text: Optional[str]
    ints: Tuple[int, ...]
    floats: Tuple[float, ...]
    bools: Tuple[bool, ...]
    texts: Tuple[str, ...]
    tensor: Optional[HostTensor]
    function: Optional[str]
    attributes: "Tuple[Attribute, ...]"


@dataclass(frozen=True)
class Node:
    """A node that an own operator runs. Names are not unique: attribute() returns the first of a key."""

    name: str
    type_name: str
    schema_type: str
    engine: str
    info: bytes
    attributes: Tuple[Attribute, ...]
    input_count: int
    output_count: int

    def attribute(self, key: str) -> Attribute:
        for attribute in self.attributes:
            if attribute.key == key:
                return attribute
        raise KeyError(f"node '{self.name}' has no attribute '{key}'; it has {[a.key for a in self.attributes]}")


class Operator:
    """An operator. Its methods run on the thread that creates, resizes or runs a session, for several sessions at once.

    Inputs are copies of the node's arrays, and results are copied, so that no array refers to the library's memory.
    An exception ends the call that the method belongs to, which raises it again.
    """

    content_inputs: Sequence[int] = ()  # the inputs whose elements shape() reads

    shape: Optional[Callable[[Node, List[HostTensor]], Sequence[Tuple[Sequence[int], Any]]]] = None
    """A method (node, inputs) that returns (shape, dtype) of each output; None: outputs are like the inputs."""

    prepare: Optional[Callable[[Node, List[HostTensor]], Any]] = None
    """A method (node, inputs) that is called for each plan; compute gets what it returns as `state`."""

    def compute(self, node: Node, inputs: List[Array], state: Any) -> Any:
        """The output as an array, or a sequence with one for each output."""
        raise NotImplementedError


class _Function(Operator):
    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def compute(self, node: Node, inputs: List[Array], state: Any) -> Any:
        return self.function(*inputs)


def _tensor(struct: Any, with_data: bool = True) -> HostTensor:
    shape = None if struct.rank < 0 else tuple(struct.dims[: struct.rank])
    data: Optional[Array] = None
    if with_data and shape is not None and (struct.data or 0 in shape):
        data = _view(struct, shape).copy()
        if struct.type == ElementType.BFLOAT16:
            data = (data.astype(np.uint32) << 16).view(np.float32)
    return HostTensor(decode(struct.name), known(ElementType, struct.type), known(Format, struct.format), shape, data)


def _view(struct: Any, shape: Tuple[int, ...]) -> Array:
    """Returns the memory of a tensor, which is valid during the callback only."""
    dtype = np.dtype(np.uint16) if struct.type == ElementType.BFLOAT16 else dtype_of(struct.type)
    if 0 in shape:
        return np.empty(shape, dtype)
    memory = (ctypes.c_char * struct.bytes).from_address(struct.data)
    return np.frombuffer(memory, dtype).reshape(shape)


def _attribute(struct: Any, depth: int = 0) -> Attribute:
    tensor = _tensor(struct.tensor.contents) if struct.tensor else None
    nested = range(struct.attribute_count if depth < 64 else 0)
    return Attribute(
        decode(struct.key),
        struct.int_value,
        struct.float_value,
        bool(struct.bool_value),
        _calls.decode_optional(struct.text),
        tuple(struct.ints[: struct.int_count]),
        tuple(struct.floats[: struct.float_count]),
        tuple(bool(b) for b in struct.bools[: struct.bool_count]),
        tuple(decode(t) for t in struct.texts[: struct.text_count]),
        tensor,
        _calls.decode_optional(struct.function),
        tuple(_attribute(struct.attributes[i].contents, depth + 1) for i in nested),
    )


def _node(struct: Any) -> Node:
    return Node(
        decode(struct.name),
        decode(struct.type_name),
        decode(struct.schema_type),
        decode(struct.engine),
        ctypes.string_at(struct.info, struct.info_size) if struct.info else b"",
        tuple(_attribute(struct.attributes[i].contents) for i in range(struct.attribute_count)),
        struct.input_count,
        struct.output_count,
    )


class _Registered:
    """An operator as the library calls it, with the nodes and states of its plans."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.states: Dict[int, Tuple[Node, Any]] = {}

    def shape(self, call: Any) -> None:
        function: Any = self.operator.shape
        inputs = [_tensor(call.inputs[i].contents) for i in range(call.input_count)]
        results = list(function(_node(call.node.contents), inputs))
        if len(results) != call.output_count:
            raise ComputeSizeError(f"shape() gave {len(results)} outputs; the node has {call.output_count}")
        for i, (shape, dtype) in enumerate(results):
            output = call.outputs[i].contents
            if len(shape) > _abi.MAX_RANK:
                raise ComputeSizeError(f"shape() gave {len(shape)} dimensions; at most {_abi.MAX_RANK} are allowed")
            output.rank = len(shape)
            output.dims[: len(shape)] = _calls.extents(shape)[0][:]
            output.type = type_of(np.dtype(dtype).newbyteorder("="))  # compute() may give any order

    def prepare(self, call: Any) -> None:
        node, state = _node(call.node.contents), None
        if self.operator.prepare is not None:
            function: Any = self.operator.prepare
            state = function(node, [_tensor(call.inputs[i].contents) for i in range(call.input_count)])
        number = _registry.add(None)
        self.states[number] = (node, state)
        call.state = number

    def compute(self, call: Any) -> None:
        node, state = self.states[call.state]
        inputs: List[Any] = [_tensor(call.inputs[i].contents).data for i in range(call.input_count)]
        results = self.operator.compute(node, inputs, state)
        if not isinstance(results, (tuple, list)):
            results = (results,)
        if len(results) != call.output_count:
            raise InputDataError(f"compute() gave {len(results)} outputs; the node has {call.output_count}")
        for i, result in enumerate(results):
            output, array = call.outputs[i].contents, np.asarray(result)
            shape = tuple(output.dims[: output.rank])
            if array.shape != shape:
                raise InputDataError(f"compute() gave output {i} the shape {array.shape}; it is planned as {shape}")
            if output.type == ElementType.BFLOAT16:
                raise BadTypeError(f"output {i} has the type bfloat16, which NumPy does not have")
            np.copyto(_view(output, shape), array, casting="same_kind")


def failed(error: BaseException) -> int:
    """Keeps the exception of a callback, and returns a status for the library: none that calls of a session return for
    themselves, so that theirs are not mistaken."""
    keep(error)
    status = error.status if isinstance(error, Error) else 0
    return CallbackStopError.status if status in (0, BusyError.status, WaitTimeoutError.status) else status


def _callback(method: str) -> Any:
    def call(number: int, struct: Any) -> int:
        try:
            program(getattr(_registry.get(number), method), struct.contents)
            return 0
        except BaseException as error:
            return failed(error)

    return _abi.OperatorCallback(call)


_shape, _prepare, _compute = _callback("shape"), _callback("prepare"), _callback("compute")


def _call_release(number: int, state: int) -> None:
    _registry.get(number).states.pop(state, None)
    _registry.remove(state)


_release = _abi.OperatorRelease(_call_release)


def register(interpreter: int, name: str, operator: Any) -> Operator:
    """Registers an operator with an interpreter of the library; returns it as an Operator."""
    if not isinstance(operator, Operator):
        if not callable(operator):
            raise TypeError(f"an operator is an mnn_c.Operator or a function, not {type(operator).__name__}")
        operator = _Function(operator)
    struct = _calls.prepared(_abi.Operator, C.mnn_operator_init)
    struct.name = encode(name, "name")
    for index in operator.content_inputs:
        if not 0 <= index < 32:
            raise ValueError(f"content_inputs names input {index}; it may name 0 to 31")
        struct.content_inputs |= 1 << index
    if operator.shape is not None:
        struct.shape = _shape
    struct.prepare, struct.compute, struct.release = _prepare, _compute, _release
    struct.finalizer = _registry.finalizer
    struct.user_data = number = _registry.add(_Registered(operator))
    status = C.mnn_interpreter_add_operator(interpreter, byref(struct))
    if status:
        _registry.remove(number)
        check(status)
    return operator  # type: ignore[no-any-return]
