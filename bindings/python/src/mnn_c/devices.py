"""The library, its backends and the machine's devices."""

from __future__ import annotations

from ctypes import byref, c_int32, c_size_t, create_string_buffer
from typing import List, Optional, Tuple

from . import _abi, _calls, _interrupt
from ._failure import check
from ._known import known
from ._library import C
from ._values import value_of
from .cancel import CancelToken
from .enums import Forward
from .errors import BackendMissingError
from .info import Cpu, Device
from .tables import Table


def version() -> str:
    """The version of the library."""
    value: bytes = C.mnn_version()
    return value.decode()


def version_numbers() -> Tuple[int, int, int]:
    """The version of the library as numbers."""
    numbers = [c_int32() for _ in range(3)]
    check(C.mnn_version_numbers(*(byref(number) for number in numbers)))
    return numbers[0].value, numbers[1].value, numbers[2].value


def abi_version() -> Tuple[int, int]:
    """The version of the binary interface, major and minor."""
    value: int = C.mnn_abi_version()
    return value >> 16, value & 0xFFFF


def backends() -> List[Tuple[str, Forward]]:
    """The backends that are compiled in, whether they have a device or not."""
    return [
        (_calls.text(C.mnn_backend_name, i), known(Forward, _calls.number(C.mnn_backend_forward_type, i)))
        for i in range(_calls.size(C.mnn_backend_count))
    ]


def devices(forward_type: Forward = Forward.VULKAN) -> Table[Device]:
    """The devices of a backend; none where the backend is missing (missing_reason() says why)."""
    rows: List[Device] = []
    try:
        count = _calls.size(C.mnn_device_count, forward_type)
    except BackendMissingError:
        count = 0
    for i in range(count):
        struct = _calls.filled(_abi.DeviceProperties, C.mnn_device_info, forward_type, i)
        rows.append(value_of(struct, Device, uuid=bytes(struct.uuid).hex()))
    return Table(rows, ("name", "kind", "driver", "memory_bytes", "fp16_storage"))


def missing_reason(forward_type: Forward = Forward.VULKAN) -> str:
    """The sentence that says why a backend has no device; "" where it has one."""
    try:
        _calls.size(C.mnn_device_count, forward_type)
    except BackendMissingError as error:
        return error.sentence
    return ""


def cpu() -> Cpu:
    """The processor of this machine."""
    struct = _calls.filled(_abi.CpuProperties, C.mnn_cpu_info)
    return value_of(  # type: ignore[no-any-return]
        struct,
        Cpu,
        isas=tuple(_calls.decode(struct.isas).split()),
        features=tuple(_calls.decode(struct.features).split()),
    )


def calibrate(isa: Optional[str] = None, *, cancel: Optional[CancelToken] = None) -> str:
    """Measures the costs by which the library chooses between algorithms on this CPU, and returns them as text, the
    cpu_costs of a Runtime.

    isa names the instruction set to measure; None is the best one. It takes a second, in which nothing else should run.
    """
    name = None if isa is None else _calls.encode(isa, "isa")
    needed = c_size_t()
    check(C.mnn_cpu_calibrate(name, None, None, 0, byref(needed)))
    buffer = create_string_buffer(needed.value)
    capacity = needed.value

    def measure(token: int) -> int:
        status: int = C.mnn_cpu_calibrate(name, token, buffer, capacity, byref(needed))
        return status

    check(_interrupt.call(measure, cancel))
    return _calls.decode(buffer.value)
