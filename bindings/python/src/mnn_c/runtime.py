"""Runtimes: threads, memory and a device that sessions share."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from ctypes import byref, pointer
from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Sequence, Set, Tuple

from . import _abi, _calls, _interrupt, _registry
from ._failure import keep
from ._handles import Closable
from ._known import known
from ._library import C
from .enums import Forward, LogLevel, Power
from .own_backend import HostBackend, add

LogHandler = Callable[[LogLevel, str], None]


class Allocator:
    """Allocates memory for tensors, inputs and weights. Its methods are called by several threads and must not
    raise."""

    def allocate(self, size: int, alignment: int) -> int:
        """Returns the address of `size` bytes at a multiple of `alignment`; 0 when there is no memory."""
        raise NotImplementedError

    def release(self, address: int, size: int, alignment: int) -> None:
        """Frees memory that allocate() returned for these numbers."""
        raise NotImplementedError


@dataclass
class VulkanObjects:
    """Handles of Vulkan, as numbers, which the caller keeps until the runtime and its last session are closed."""

    instance: int
    physical_device: int
    device: int
    queue: int
    queue_family: int
    storage_16bit: bool = False
    lock: Optional["AbstractContextManager[Any]"] = None  # held while the library uses the queue


def _call_parallel_for(number: int, task: Any, context: int, count: int) -> None:
    function = _registry.get(number)
    try:
        function(count, lambda index: task(context, index))
    except BaseException as error:  # the library computes the numbers that were skipped
        _registry.report(error, function)


_parallel_for = _abi.ParallelFor(_call_parallel_for)


def _call_allocate(number: int, size: int, alignment: int) -> Optional[int]:
    allocator = _registry.get(number)
    try:
        return int(allocator.allocate(size, alignment)) or None
    except BaseException as error:
        _registry.report(error, allocator)
        return None


_allocate = _abi.Allocate(_call_allocate)


def _call_release(number: int, address: int, size: int, alignment: int) -> None:
    allocator = _registry.get(number)
    try:
        allocator.release(address, size, alignment)
    except BaseException as error:
        _registry.report(error, allocator)


_release = _abi.Release(_call_release)


# The locks that were entered, each with the thread that holds it: an exception may have kept it from entering one.
_entered: Set[Tuple[int, int]] = set()


def _call_lock_queue(number: int) -> None:
    lock, holder = _registry.get(number), (number, threading.get_ident())

    def enter() -> None:
        if holder not in _entered:  # else Ctrl-C came before _call_unlock_queue
            lock.__enter__()
            _entered.add(holder)

    _hold(enter, lock)


_lock_queue = _abi.QueueCallback(_call_lock_queue)


def _call_unlock_queue(number: int) -> None:
    lock, holder = _registry.get(number), (number, threading.get_ident())

    def leave() -> None:
        if holder in _entered:
            _entered.remove(holder)
            lock.__exit__(None, None, None)

    _hold(leave, lock)


def _hold(function: Callable[[], None], lock: Any) -> None:
    try:
        _interrupt.held(function)
    except KeyboardInterrupt as error:  # the call that uses the queue raises it
        keep(error)
    except BaseException as error:
        _registry.report(error, lock)


_unlock_queue = _abi.QueueCallback(_call_unlock_queue)


class Runtime(Closable):
    """Threads, memory and a device for any sessions of any interpreters, which name it in their configuration.

    A runtime of n threads has n - 1 workers; the thread that runs a session is the n-th. Sessions keep what they need
    of it, so it may be closed before or after them.
    """

    _destroy = C.mnn_runtime_destroy

    def __init__(
        self,
        threads: int = 1,
        *,
        power: Power = Power.NORMAL,
        cores: Sequence[int] = (),
        parallel_for: Optional[Callable[[int, Callable[[int], None]], None]] = None,
        allocator: Optional[Allocator] = None,
        device: Optional[str] = None,
        cpu_costs: Optional[str] = None,
        vulkan: Optional[VulkanObjects] = None,
        log: Optional[LogHandler] = None,
        log_level: LogLevel = LogLevel.DEFAULT,
    ) -> None:
        """parallel_for(count, task) calls task(i) once for each i below count, on threads of its own, and returns when
        all of these calls have returned; it takes the place of workers. Ctrl-C does not interrupt it, because task()
        may be under way on other threads. cpu_costs is what calibrate() measured on this machine, in place of the costs
        that the library knows."""
        config = _calls.prepared(_abi.RuntimeConfig, C.mnn_runtime_config_init)
        _calls.assign(config, threads=threads, power=power, log_level=log_level)
        if cores:
            config.cores, config.core_count = _calls.extents(cores, "a core")
        if device is not None:
            config.device = _calls.encode(device, "device")
        if cpu_costs is not None:
            config.cpu_costs = _calls.encode(cpu_costs, "cpu_costs")
        objects = None
        if vulkan is not None:
            objects = _calls.prepared(_abi.VulkanObjects, C.mnn_vulkan_objects_init)
            objects.instance, objects.physical_device = vulkan.instance, vulkan.physical_device
            objects.device, objects.queue = vulkan.device, vulkan.queue
            _calls.assign(objects, queue_family=vulkan.queue_family)
            objects.storage_16bit = vulkan.storage_16bit
            config.vulkan = pointer(objects)
        numbers: List[int] = []  # of objects that the library removes with the runtime

        def register(item: Any) -> int:
            numbers.append(_registry.add(item))
            return numbers[-1]

        if parallel_for is not None:
            config.parallel_for = _parallel_for
            config.parallel_for_user_data = register(parallel_for)
            config.parallel_for_finalizer = _registry.finalizer
        if allocator is not None:
            config.allocate, config.release = _allocate, _release
            config.allocator_user_data = register(allocator)
            config.allocator_finalizer = _registry.finalizer
        if objects is not None and vulkan is not None and vulkan.lock is not None:
            objects.lock_queue, objects.unlock_queue = _lock_queue, _unlock_queue
            objects.user_data, objects.finalizer = register(vulkan.lock), _registry.finalizer
        if log is not None:
            config.log_callback, config.log_finalizer = _registry.log, _registry.finalizer
            config.log_user_data = register(log)
        self._create(lambda _, out: C.mnn_runtime_create(byref(config), out), None, numbers)
        self.threads = threads

    def add_backend(self, name: str, backend: HostBackend) -> Forward:
        """Adds a backend for sessions that are created afterwards, and returns its forward_type."""
        return known(Forward, add(self._handle, name, backend))

    def __repr__(self) -> str:
        return f"<Runtime of {self.threads} thread{'s' if self.threads != 1 else ''}{', closed' if self.closed else ''}>"
