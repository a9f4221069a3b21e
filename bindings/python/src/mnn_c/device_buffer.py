"""Buffers of a device that inputs and outputs are bound to."""

from __future__ import annotations

from ctypes import byref, sizeof
from dataclasses import dataclass

from . import _abi, _calls
from ._failure import check
from ._known import known
from ._library import C
from .enums import BufferKind


@dataclass
class DeviceBuffer:
    """A buffer of the device that a session runs on, or a part of one: the elements of a tensor, row-major in the order
    of its format. mnn_c.h has the rules ("Buffers of a device")."""

    kind: BufferKind
    allocate: bool = False  # the session makes a buffer of that kind, and the other fields are not read
    buffer: int = 0  # VULKAN: the VkBuffer
    offset: int = 0  # bytes before the first element, in the buffer or, with a file descriptor, in its memory
    bytes: int = 0  # usable bytes from the offset on: at least those of the tensor
    memory_bytes: int = 0  # OPAQUE_FD: the allocationSize of the memory
    memory_type: int = 0  # OPAQUE_FD: the memoryTypeIndex with which the memory was allocated
    fd: int = -1  # OPAQUE_FD: the descriptor, which stays the caller's; Tensor.device_buffer() gives a new one
    memory: int = 0  # set by Tensor.device_buffer() only: the VkDeviceMemory; 0 where it is not known
    memory_offset: int = 0  # set by Tensor.device_buffer() only: bytes before the first element in that memory

    def _struct(self) -> _abi.DeviceBuffer:
        struct = _calls.prepared(_abi.DeviceBuffer, C.mnn_device_buffer_init)
        struct.kind, struct.allocate, struct.buffer = self.kind, self.allocate, self.buffer
        struct.offset, struct.bytes, struct.fd = self.offset, self.bytes, self.fd
        struct.memory_bytes, struct.memory_type = self.memory_bytes, self.memory_type
        return struct


def device_buffer_of(tensor: int, kind: BufferKind) -> DeviceBuffer:
    """Returns the place on the device of the tensor with that handle."""
    struct = _abi.DeviceBuffer()
    struct.struct_size, struct.kind = sizeof(struct), kind
    check(C.mnn_tensor_device_buffer(tensor, byref(struct)))
    fields = {name: getattr(struct, name) for name, *_ in struct._fields_ if name not in ("struct_size", "kind", "allocate")}
    return DeviceBuffer(known(BufferKind, struct.kind), **fields)
