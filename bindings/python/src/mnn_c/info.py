"""Descriptions of models, sessions, tensors and operators, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Optional

from ._calls import decode, decode_optional
from ._known import known
from .enums import ElementType, Format, Forward, GpuMode, Memory, Precision, Source, TensorKind, Usage


@dataclass(frozen=True)
class ModelInfo:
    """The description of a model."""

    source: Source
    usage: Usage
    byte_size: int
    subgraph_count: int
    weightless: bool
    metadata: Dict[str, str]


@dataclass(frozen=True)
class ModelOp:
    """An operator of the file."""

    name: str
    type_name: str
    supported: bool
    outputs: "tuple[str, ...]"


@dataclass(frozen=True)
class OpInfo:
    """An operator of a session: the place where it runs, and the reason."""

    name: str
    type_name: str
    backend_name: str
    reason: Optional[str]
    flops: float
    host_shape: bool
    algorithm: Optional[str]
    device_ms: float  # after it, in a run with device_times: by the clock of the GPU; below 0: not known
    op_index: int  # its position in Interpreter.ops(); -1: the library added it


@dataclass(frozen=True)
class SessionInfo:
    """The setup of a session."""

    forward_type: Forward
    wanted_forward_type: Forward
    reason: Optional[str]
    device: Optional[str]
    cpu_isa: Optional[str]
    threads: int
    wanted_threads: int
    precision: Precision
    wanted_precision: Precision
    precision_reason: Optional[str]
    memory: Memory
    wanted_memory: Memory
    memory_reason: Optional[str]
    gpu_mode: GpuMode


@dataclass(frozen=True)
class Statistics:
    """The work of a session since its creation, with times in nanoseconds, and the bytes that it holds."""

    runs: int
    failed_runs: int
    last_run_ns: int
    total_run_ns: int
    plans: int
    failed_plans: int
    last_plan_ns: int
    total_plan_ns: int
    stage_plans: int
    device_allocations: int
    memory_bytes: int
    peak_memory_bytes: int
    arena_bytes: int
    weight_bytes: int
    cache_read: bool
    cache_written: bool


@dataclass(frozen=True)
class StateInfo:
    """The state that a session keeps; a row is what is kept of one token. Runs up to `capacity` take no memory."""

    operators: int
    length: int
    capacity: int
    bytes: int
    type: ElementType
    erasable: bool


@dataclass(frozen=True)
class TensorInfo:
    """The place of a tensor, and its storage."""

    kind: TensorKind
    forward_type: Forward
    type: ElementType
    format: Format
    channel_block: int
    used: bool


_ENUMS: Dict[str, Any] = {
    "Forward": Forward,
    "Precision": Precision,
    "Memory": Memory,
    "Source": Source,
    "Usage": Usage,
    "TensorKind": TensorKind,
    "ElementType": ElementType,
    "Format": Format,
}


def value_of(struct: Any, kind: Any, **more: Any) -> Any:
    """Makes the dataclass `kind` from the fields of the same names of a struct of the library."""
    values: Dict[str, Any] = dict(more)
    for name, annotation in kind.__annotations__.items():
        if name in values:
            continue
        value = getattr(struct, name)
        if annotation in _ENUMS:
            value = known(_ENUMS[annotation], value)
        elif annotation == "GpuMode":
            value = GpuMode(value)
        elif annotation == "bool":
            value = bool(value)
        elif annotation == "str":
            value = decode(value)
        elif annotation == "Optional[str]":
            value = decode_optional(value)
        values[name] = value
    return kind(**values)
