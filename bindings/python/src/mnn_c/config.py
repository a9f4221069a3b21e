"""The configuration of a session."""

from __future__ import annotations

from ctypes import c_char_p, c_int32
from dataclasses import dataclass
from typing import Any, Optional, Tuple

from . import _abi, _calls
from ._library import C
from .enums import Forward, GpuMode, Memory, Power, Precision
from .runtime import Runtime


@dataclass(frozen=True)
class SessionConfig:
    """How a session runs; mnn_schedule_config_t of the header describes each field. Zero is the default."""

    forward_type: Forward = Forward.CPU
    threads: int = 0
    precision: Precision = Precision.NORMAL
    memory: Memory = Memory.NORMAL
    power: Power = Power.NORMAL
    device: Optional[str] = None
    backup_type: Forward = Forward.CPU
    allow_fallback: bool = False
    gpu_mode: GpuMode = GpuMode(0)
    cpu_isa: Optional[str] = None
    outputs: Tuple[str, ...] = ()
    save_tensors: Tuple[str, ...] = ()
    inputs: Tuple[str, ...] = ()
    operators: Tuple[str, ...] = ()
    max_memory_bytes: int = 0
    max_loop_iterations: int = 0
    record_plan: int = 0
    keep_subnormals: bool = False
    defer_planning: bool = False
    plan_cache: int = 0
    runtime: Optional[Runtime] = None
    tuning_operators: int = 0
    source_operators: Tuple[str, ...] = ()
    sink_operators: Tuple[str, ...] = ()
    fp32_operators: Tuple[str, ...] = ()
    operator_backends: Tuple[int, ...] = ()  # members of Forward, and numbers that Runtime.add_backend() returned


def _number(config: SessionConfig, name: str) -> int:
    value = getattr(config, name)
    try:
        return int(value)
    except (TypeError, ValueError):
        kind = type(getattr(SessionConfig, name)).__name__
        raise TypeError(f"{name} is {value!r}, but its type is {kind}") from None


def native(config: SessionConfig) -> Any:
    """Returns the struct of the library, which keeps the memory that it points to alive."""
    struct = _calls.prepared(_abi.ScheduleConfig, C.mnn_schedule_config_init)
    for name in (
        "forward_type backup_type allow_fallback threads precision memory power gpu_mode max_memory_bytes"
        " max_loop_iterations record_plan keep_subnormals defer_planning plan_cache tuning_operators"
    ).split():
        _calls.assign(struct, **{name: _number(config, name)})
    for name in ("device", "cpu_isa"):
        text = getattr(config, name)
        if text is not None:
            setattr(struct, name, _calls.encode(text, name))
    for name in ("outputs", "save_tensors", "inputs", "operators", "source_operators", "sink_operators", "fp32_operators"):
        names = getattr(config, name)
        if isinstance(names, str):
            raise TypeError(f"{name} is a sequence of names, not one text: {names!r}")
        if names:
            setattr(struct, name, (c_char_p * len(names))(*(_calls.encode(item, name) for item in names)))
            setattr(struct, name[:-1] + "_count", len(names))
    if config.operator_backends:
        backends = [int(backend) for backend in config.operator_backends]
        struct.operator_backends = (c_int32 * len(backends))(*backends)
        struct.operator_backend_count = len(backends)
    if config.runtime is not None:
        struct.runtime = config.runtime._handle
    return struct
