"""Own backends: Python computes nodes of operators that the library has, too."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int32
from typing import Any, List, Union

from . import _abi, _calls, _registry
from ._calls import encode
from ._failure import check
from ._interrupt import program
from ._library import C
from .dtypes import Array
from .errors import NotSupportedError
from .operators import HostTensor, Node, _callback, _compute, _node, _Registered, _release, _tensor, failed


class HostBackend:
    """A backend that sessions of a runtime use besides the CPU. Its methods run on the thread that creates, resizes or
    runs a session, of several sessions at once.

    Arrays are copies, as those of an Operator. An exception ends the call that the method belongs to, which raises it
    again.
    """

    def supports(self, node: Node, inputs: List[HostTensor], outputs: List[HostTensor]) -> Union[bool, str]:
        """Whether it computes the node over tensors of these shapes and types. A text is the reason why it does not, and
        so is the sentence of a NotSupportedError."""
        raise NotImplementedError

    def prepare(self, node: Node, inputs: List[HostTensor], weights: List[HostTensor]) -> Any:
        """Called for each node that it computes; compute() gets the result as `state`. weights: the weights of a
        convolution or inner product as floats, (outputs, inputs of a group, window), of a deconvolution (inputs,
        outputs of a group, window); then the bias."""

    def compute(self, node: Node, inputs: List[Array], state: Any) -> Any:
        """The output as an array, or a sequence with one for each output."""
        raise NotImplementedError


class _RegisteredBackend(_Registered):
    def prepare(self, call: Any) -> None:
        node: Node = _node(call.node.contents)
        backend: Any = self.operator
        inputs = [_tensor(call.inputs[i].contents) for i in range(call.input_count)]
        weights = [_tensor(call.weights[i].contents) for i in range(call.weight_count)]
        state = backend.prepare(node, inputs, weights)
        number = _registry.add(None)
        self.states[number] = (node, state)
        call.state = number


def _call_supports(number: int, struct: Any) -> int:
    call = struct.contents
    try:
        inputs = [_tensor(call.inputs[i].contents) for i in range(call.input_count)]
        outputs = [_tensor(call.outputs[i].contents, False) for i in range(call.output_count)]
        answer = program(_registry.get(number).operator.supports, _node(call.node.contents), inputs, outputs)
    except NotSupportedError as error:  # for the library this is an answer, not a failure
        answer = error.sentence
    except BaseException as error:
        return failed(error)
    if answer and not isinstance(answer, str):  # True, also that of NumPy
        return 0
    text = str(answer or "").encode("utf-8", "replace")[: max(call.message_size - 1, 0)]
    ctypes.memmove(call.message, text + b"\0", len(text) + 1)
    return NotSupportedError.status


_supports = _abi.OperatorCallback(_call_supports)
_prepare = _callback("prepare")


def add(runtime: int, name: str, backend: HostBackend) -> int:
    """Registers a backend with a runtime of the library; returns its forward type."""
    if not isinstance(backend, HostBackend):
        raise TypeError(f"a backend is an mnn_c.HostBackend, not {type(backend).__name__}")
    struct = _calls.prepared(_abi.Backend, C.mnn_backend_init)
    struct.name = encode(name, "name")
    struct.supports, struct.prepare, struct.compute, struct.release = _supports, _prepare, _compute, _release
    struct.finalizer = _registry.finalizer
    registered: Any = backend
    struct.user_data = number = _registry.add(_RegisteredBackend(registered))
    forward_type = c_int32()
    status = C.mnn_runtime_add_backend(runtime, byref(struct), byref(forward_type))
    if status:
        _registry.remove(number)
        check(status)
    return forward_type.value
