"""Converts ONNX models to .mnn models.

    from mnn_c import onnx

    onnx.convert("net.onnx", "net.mnn", weights=onnx.Weights.INT8)  # writes a file
    net = mnn_c.Interpreter("net.onnx")                             # converts in memory, with the defaults

This module opens libmnn_c_onnx, which a wheel contains; mnn_c alone does not need it. docs/convert.md of the library
lists the operators.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import byref, c_char_p, c_size_t, c_void_p
from dataclasses import dataclass
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _interrupt, _onnx_abi
from ._calls import decode, encode
from ._failure import error_of, keep, take
from ._library import load_beside
from ._onnx_abi import Weights
from .cancel import CancelToken
from .errors import NotSupportedError

__all__ = ["ConversionError", "Converted", "Problem", "Report", "Weights", "convert"]

_O: Any = load_beside("onnx", _onnx_abi.FUNCTIONS)

Path = Union[str, "os.PathLike[str]"]
Bytes = Union[bytes, bytearray, memoryview]
# Called with the number of nodes that are read, and their total.
Progress = Callable[[int, int], Any]


@dataclass(frozen=True)
class Problem:
    """A node that cannot be expressed in a .mnn model."""

    node: str
    domain: str
    op_type: str
    opset: int
    reason: str
    status: int


@dataclass(frozen=True)
class Report:
    """The result of a conversion, in numbers and lists."""

    nodes: int
    functions: int
    operators: int
    folded: int
    problems: Tuple[Problem, ...]
    notes: Tuple[str, ...]


@dataclass(frozen=True)
class Converted:
    """A .mnn model: its bytes, the bytes of weights that are stored separately (b"" without any), and the report."""

    data: bytes
    weights: bytes
    report: Report


class ConversionError(NotSupportedError):
    """Nodes of a model cannot be expressed: `report.problems` lists all of them."""

    report: Report


def _check(status: int) -> None:
    if status:
        raised = take()
        if raised is not None:
            raise raised
        raise error_of(status, _O.mnn_onnx_last_error())


def _options(
    shapes: Mapping[str, Sequence[int]],
    extents: Mapping[str, int],
    outputs: Sequence[str],
    weights: Weights,
    weight_block: int,
) -> Tuple[_onnx_abi.Options, List[Any]]:
    """Returns options, and the objects that they point to."""
    options = _onnx_abi.Options()
    _check(_O.mnn_onnx_options_init(byref(options), ctypes.sizeof(options)))
    options.weights, options.weight_block = weights, weight_block
    lists = [(ctypes.c_int32 * len(dims))(*dims) for dims in shapes.values()]
    pointer = ctypes.POINTER(ctypes.c_int32)
    shape_array = (_onnx_abi.Shape * len(lists))(
        *(
            _onnx_abi.Shape(encode(name, "shapes"), ctypes.cast(dims, pointer), len(dims))
            for name, dims in zip(shapes, lists)
        )
    )
    extent_array = (_onnx_abi.Extent * len(extents))(
        *(_onnx_abi.Extent(encode(name, "extents"), number) for name, number in extents.items())
    )
    names = (c_char_p * len(outputs))(*(encode(name, "outputs") for name in outputs))
    options.shapes, options.shape_count = shape_array, len(shape_array)
    options.extents, options.extent_count = extent_array, len(extent_array)
    options.outputs, options.output_count = names, len(names)
    return options, [lists, shape_array, extent_array, names]


def _report(handle: c_void_p) -> Report:
    found = _onnx_abi.Report(ctypes.sizeof(_onnx_abi.Report))
    _check(_O.mnn_onnx_result_report(handle, byref(found)))
    problems, notes = [], []
    for i in range(found.problems):
        one = _onnx_abi.Problem(ctypes.sizeof(_onnx_abi.Problem))
        _check(_O.mnn_onnx_result_problem(handle, i, byref(one)))
        problems.append(
            Problem(decode(one.node), decode(one.domain), decode(one.op_type), one.opset, decode(one.reason), one.status)
        )
    for i in range(found.notes):
        note = c_char_p()
        _check(_O.mnn_onnx_result_note(handle, i, byref(note)))
        notes.append(decode(note.value))
    return Report(found.nodes, found.functions, found.operators, found.folded, tuple(problems), tuple(notes))


def _bytes(function: Any, handle: c_void_p) -> bytes:
    data, size = c_void_p(), c_size_t()
    _check(function(handle, byref(data), byref(size)))
    return ctypes.string_at(data.value, size.value) if data.value else b""


def convert(
    source: Union[Path, Bytes],
    output: Optional[Path] = None,
    *,
    shapes: Optional[Mapping[str, Sequence[int]]] = None,
    extents: Optional[Mapping[str, int]] = None,
    outputs: Sequence[str] = (),
    weights: Weights = Weights.FLOAT32,
    weight_block: int = 0,
    weights_beside: bool = False,
    data_folder: Optional[Path] = None,
    follow_links: bool = False,
    max_memory_bytes: int = 0,
    progress: Optional[Progress] = None,
    cancel: Optional[CancelToken] = None,
) -> Converted:
    """Converts an ONNX model to a .mnn model, and writes it where `output` names a file. Raises ConversionError where
    nodes have no form.

    source: the path of an .onnx file, or the bytes of one, whose external data lies in `data_folder`.
    shapes, extents: of inputs, and of free extents that have a name: {"data": (1, 3, 224, 224)}, {"batch": 1}.
    outputs: the values that become outputs; none: the model's.
    weight_block: with INT8 and INT4, how many weights of a row share a scale; 0: all.
    weights_beside: large arrays go into `output` with ".weight" behind it, or into `Converted.weights`.
    follow_links: external data may lie behind a link that leaves the folder of the model.
    max_memory_bytes: what constants may take; 0: 1 GiB, and 8 times the bytes of the model and of its external data.
    progress: called with the number of nodes that were read, and their total; an exception in it ends the conversion.
    """
    options, kept = _options(shapes or {}, extents or {}, tuple(outputs), weights, weight_block)
    options.weights_beside, options.follow_links = bool(weights_beside), bool(follow_links)
    options.max_memory_bytes = max_memory_bytes
    if data_folder is not None:
        options.data_folder = encode(os.fspath(data_folder), "data_folder")

    def watch(_: Any, done: int, total: int) -> int:
        try:
            if progress is not None:
                _interrupt.program(progress, done, total)
            return 0
        except BaseException as error:
            keep(error)
            return 1

    if progress is not None:
        options.progress = _onnx_abi.Progress(watch)
    handle = c_void_p()

    def run(token: int) -> int:
        options.cancel = token
        status: int
        if isinstance(source, (bytes, bytearray, memoryview)):
            status = _O.mnn_onnx_convert_memory(memory, len(memory), byref(options), byref(handle))
        else:
            status = _O.mnn_onnx_convert_file(path, byref(options), byref(handle))
        return status

    memory = bytes(source) if isinstance(source, (bytes, bytearray, memoryview)) else b""
    path = b"" if isinstance(source, (bytes, bytearray, memoryview)) else encode(os.fspath(source), "source")
    try:
        _check(_interrupt.call(run, cancel))
        report = _report(handle)
        if report.problems:
            first = report.problems[0]
            error = ConversionError(
                f"{len(report.problems)} nodes have no form in a .mnn model; the first is '{first.node}'"
                f" ({first.op_type}): {first.reason}"
            )
            error.report = report
            raise error
        if output is not None:
            _check(_O.mnn_onnx_result_save(handle, encode(os.fspath(output), "output")))
        return Converted(_bytes(_O.mnn_onnx_result_data, handle), _bytes(_O.mnn_onnx_result_weights, handle), report)
    finally:
        del kept
        _O.mnn_onnx_result_destroy(byref(handle))
