"""Runs neural networks stored in the .mnn format, with NumPy in and out.

    import mnn_c, numpy as np

    net = mnn_c.Interpreter("digits.mnn")
    session = net.session(threads=2)
    scores = session(np.zeros((1, 1, 8, 8), np.float32))
"""

from . import errors
from ._callbacks import OpCallback
from .cancel import CancelToken
from .config import SessionConfig
from .device_buffer import DeviceBuffer
from .devices import (
    abi_version,
    backends,
    calibrate,
    cpu,
    devices,
    missing_reason,
    version,
    version_numbers,
)
from .enums import (
    BufferKind,
    ElementType,
    Format,
    Forward,
    GpuMode,
    Keep,
    Load,
    LogLevel,
    Memory,
    Op,
    Power,
    Precision,
    Source,
    TensorKind,
    Usage,
)
from .errors import CancelledError, Error
from .info import Cpu, Device, ModelInfo, OpInfo, SessionInfo, StateInfo, Statistics, TensorInfo
from .interpreter import Declaration, Interpreter, ModelInput, ModelOp
from .operators import Attribute, HostTensor, Node, Operator
from .own_backend import HostBackend
from .runtime import Allocator, Runtime, VulkanObjects
from .session import Session
from .submitted import Pending
from .tables import Table
from .tensor import Tensor
from .weights import WeightReader

__version__ = "0.2.0"
__all__ = [
    "Allocator",
    "Attribute",
    "BufferKind",
    "CancelToken",
    "CancelledError",
    "Cpu",
    "Declaration",
    "Device",
    "DeviceBuffer",
    "ElementType",
    "Error",
    "Format",
    "Forward",
    "GpuMode",
    "HostBackend",
    "HostTensor",
    "Interpreter",
    "Keep",
    "Load",
    "LogLevel",
    "Memory",
    "ModelInfo",
    "ModelInput",
    "ModelOp",
    "Node",
    "Op",
    "OpCallback",
    "OpInfo",
    "Operator",
    "Pending",
    "Power",
    "Precision",
    "Runtime",
    "Session",
    "SessionConfig",
    "SessionInfo",
    "Source",
    "StateInfo",
    "Statistics",
    "Table",
    "Tensor",
    "TensorInfo",
    "TensorKind",
    "Usage",
    "VulkanObjects",
    "WeightReader",
    "abi_version",
    "backends",
    "calibrate",
    "cpu",
    "devices",
    "errors",
    "missing_reason",
    "version",
    "version_numbers",
]
