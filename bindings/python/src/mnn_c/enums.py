"""The enumerations of mnn_c.h. Their numbers never change; a number that a newer library brings stays a plain int."""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Type, TypeVar

Enum = TypeVar("Enum", bound=IntEnum)


def known(kind: Type[Enum], value: int) -> Enum:
    """The member of that value, or the plain number where this version has no name for it."""
    try:
        return kind(value)
    except ValueError:
        return value  # type: ignore[return-value]


class ElementType(IntEnum):
    """MNN_TYPE_*: the type of the elements of a tensor."""

    FLOAT32 = 1
    DOUBLE = 2
    INT32 = 3
    UINT8 = 4
    INT16 = 5
    INT8 = 6
    INT64 = 9
    BOOL = 10
    BFLOAT16 = 14
    UINT16 = 17
    FLOAT16 = 19


class Format(IntEnum):
    """MNN_FORMAT_*: the order of dimensions. With a rank below 3 all are the same."""

    NCHW = 0
    NHWC = 1
    NC4HW4 = 2


class Forward(IntEnum):
    """MNN_FORWARD_*: where a session runs."""

    CPU = 0
    AUTO = 4
    VULKAN = 7
    USER = 256  # from here on: what Runtime.add_backend() gives


class Precision(IntEnum):
    """MNN_PRECISION_*: how numbers are rounded."""

    NORMAL = 0
    HIGH = 1
    LOW = 2
    LOW_BF16 = 3


class GpuMode(IntFlag):
    """MNN_GPU_*: hints for a GPU, at most one of each group."""

    TUNING_NONE = 1
    TUNING_HEAVY = 2
    TUNING_WIDE = 4
    TUNING_NORMAL = 8
    TUNING_FAST = 16
    MEMORY_BUFFER = 64
    MEMORY_IMAGE = 128
    RECORD_OP = 256
    RECORD_BATCH = 512


class Memory(IntEnum):
    """MNN_MEMORY_*: how weights are kept."""

    NORMAL = 0
    HIGH = 1
    LOW = 2


class Power(IntEnum):
    """MNN_POWER_*: on which cores workers compute."""

    NORMAL = 0
    HIGH = 1
    LOW = 2


class Load(IntEnum):
    """MNN_LOAD_*: how an interpreter holds the bytes of its model."""

    DEFAULT = 0
    MAPPED = 1
    CHUNKED = 2
    COPY = 3
    BORROW = 4


class LogLevel(IntEnum):
    """MNN_LOG_*: from quiet to talkative."""

    DEFAULT = 0
    ERROR = 1
    WARNING = 2
    INFO = 3
    DEBUG = 4


class Source(IntEnum):
    """MNN_SOURCE_*: the tool that a model was converted from."""

    CAFFE = 0
    TENSORFLOW = 1
    TFLITE = 2
    ONNX = 3
    TORCH = 4


class Usage(IntEnum):
    """MNN_USAGE_*: what a model was written for."""

    INFERENCE = 0
    TRAIN = 1
    STATIC = 2


class Op(IntEnum):
    """MNN_OP_*: what a callback of a run returns."""

    RUN = 0
    SKIP = 1
    STOP = 2


class BufferKind(IntEnum):
    """MNN_BUFFER_*: how a buffer of a device is named."""

    VULKAN = 1
    OPAQUE_FD = 2


class TensorKind(IntEnum):
    """MNN_TENSOR_*: what a tensor is to its session."""

    INPUT = 0
    OUTPUT = 1
    CONSTANT = 2
    SHOWN = 3
