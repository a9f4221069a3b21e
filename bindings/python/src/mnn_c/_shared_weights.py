"""Prepared weights that lie in memory once for all processes of a machine.

Sessions reorder the weights of convolutions and matrix products for the processor, so mapping the model's file does not
share them. All processes of a machine get the same bytes, though. After its first session is planned, a process looks,
for each of its blocks of memory, for a file with the same contents in the machine's folder, and writes one if there is
none. Then it maps the file in place of the block. A page that is written later becomes the process's own again.
"""

from __future__ import annotations

import ctypes
import hashlib
import mmap
import os
import threading
from typing import Any, Dict

import numpy as np

from . import _node
from .runtime import Allocator

_libc: Any = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.aligned_alloc.restype = ctypes.c_void_p
_libc.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
_libc.free.argtypes = [ctypes.c_void_p]

_FAILED = ctypes.c_void_p(-1).value
_MAP_FIXED = 0x10  # Python's module mmap does not have this constant
_READ_WRITE = mmap.PROT_READ | mmap.PROT_WRITE


class SharedWeights(Allocator):
    """The memory of a runtime. share() maps its weights into memory once for all processes of the machine."""

    def __init__(self, smallest: int = 64 * 1024) -> None:
        """smallest: the size in bytes of the smallest block that is worth a file."""
        self._smallest = smallest
        self._sizes: Dict[int, int] = {}  # sizes of the mapped blocks, by their addresses
        self._lock = threading.Lock()
        self.shared_bytes = 0

    def allocate(self, size: int, alignment: int) -> int:
        if size < self._smallest or alignment > mmap.PAGESIZE:
            place: int = _libc.aligned_alloc(alignment, -(-size // alignment) * alignment) or 0
            return place
        place = _libc.mmap(None, size, _READ_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        if place == _FAILED:
            return 0
        with self._lock:
            self._sizes[place] = size
        return place

    def release(self, address: int, size: int, alignment: int) -> None:
        with self._lock:
            mapped = self._sizes.pop(address, 0)
        if mapped:
            _libc.munmap(address, mapped)
        else:
            _libc.free(address)

    def share(self) -> int:
        """Shares all blocks that have contents; returns their bytes. No session of the runtime may run meanwhile."""
        for address, size in list(self._sizes.items()):
            block = np.ctypeslib.as_array((ctypes.c_ubyte * size).from_address(address))
            if block.any() and _share(address, block):
                self.shared_bytes += size
        if hasattr(_libc, "malloc_trim"):
            _libc.malloc_trim(0)  # preparing leaves freed memory behind
        return self.shared_bytes


def _share(address: int, block: Any) -> bool:
    """Maps the file with these contents in place of the block. Returns False where the file cannot be written; then
    the block is unchanged."""
    try:
        with _node.locked(hashlib.sha256(block).hexdigest() + ".weights") as path:
            if not (_node.use(path) and _holds(path, block)):
                _node.write(path, block)
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        place = _libc.mmap(address, block.size, _READ_WRITE, mmap.MAP_PRIVATE | _MAP_FIXED, file, 0)
        return bool(place == address)
    finally:
        os.close(file)


def _holds(path: str, block: Any) -> bool:
    if os.path.getsize(path) != block.size:
        return False
    return bool(np.array_equal(np.memmap(path, np.uint8, "r"), block))
