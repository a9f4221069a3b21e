//! Every enumeration constant of the header.

// Statuses
/// Success.
pub const MNN_OK: i32 = 0;
/// The host has no more memory.
pub const MNN_ERROR_OUT_OF_MEMORY: i32 = 1;
/// An operator, an element type or a form of it is not implemented.
pub const MNN_ERROR_NOT_SUPPORTED: i32 = 2;
/// An operator refuses the shapes of its inputs.
pub const MNN_ERROR_COMPUTE_SIZE: i32 = 3;
/// No backend of the session runs an operator.
pub const MNN_ERROR_NO_EXECUTION: i32 = 4;
/// An argument or field has a value that is not allowed.
pub const MNN_ERROR_INVALID_VALUE: i32 = 5;
/// The data of an input does not fit the tensor or the operator.
pub const MNN_ERROR_INPUT_DATA: i32 = 10;
/// A callback asked to stop.
pub const MNN_ERROR_CALLBACK_STOP: i32 = 11;
/// A file exists but cannot be opened, or is a directory.
pub const MNN_ERROR_FILE_OPEN_FAILED: i32 = 32;
/// A file was opened but not read or mapped to its end.
pub const MNN_ERROR_FILE_READ_FAILED: i32 = 34;
/// No such file.
pub const MNN_ERROR_FILE_NOT_EXIST: i32 = 36;
/// A pointer is NULL that must not be.
pub const MNN_ERROR_NULL_ARGUMENT: i32 = 100;
/// A handle of another kind, of another session, or a destroyed one.
pub const MNN_ERROR_BAD_HANDLE: i32 = 101;
/// The call is not allowed now, e.g. before a resize.
pub const MNN_ERROR_BAD_STATE: i32 = 102;
/// No tensor, operator or instruction set of that name.
pub const MNN_ERROR_NOT_FOUND: i32 = 103;
/// A number is outside its range.
pub const MNN_ERROR_BAD_RANGE: i32 = 104;
/// Element types do not match.
pub const MNN_ERROR_BAD_TYPE: i32 = 105;
/// The bytes are not a well-formed model.
pub const MNN_ERROR_BAD_FORMAT: i32 = 106;
/// An index, of the caller or inside the model, is too large.
pub const MNN_ERROR_BAD_INDEX: i32 = 107;
/// The model or its weight file ends too early.
pub const MNN_ERROR_TRUNCATED: i32 = 108;
/// Another call is using the session.
pub const MNN_ERROR_BUSY: i32 = 109;
/// The wanted backend is not built in or has no device.
pub const MNN_ERROR_BACKEND_MISSING: i32 = 110;
/// A struct size or version that this library does not know.
pub const MNN_ERROR_VERSION_MISMATCH: i32 = 113;
/// The cancellation token of the call was triggered.
pub const MNN_ERROR_CANCELLED: i32 = 114;
/// An operator carries the wrong or an incomplete parameter table.
pub const MNN_ERROR_BAD_PARAMETER: i32 = 115;
/// Weights are missing, too short or not decodable.
pub const MNN_ERROR_BAD_WEIGHTS: i32 = 116;
/// A product of extents, an offset or a size does not fit its type.
pub const MNN_ERROR_OVERFLOW: i32 = 117;
/// A tensor is used before it is made, or a subgraph reaches itself.
pub const MNN_ERROR_CYCLE: i32 = 118;
/// A limit on memory, on loop iterations or on the number of handles was crossed.
pub const MNN_ERROR_LIMIT_EXCEEDED: i32 = 119;
/// The caller's buffer is too small for the result.
pub const MNN_ERROR_BUFFER_TOO_SMALL: i32 = 120;
/// A GPU stopped working: its sessions fail from now on, new ones may work.
pub const MNN_ERROR_DEVICE_LOST: i32 = 121;
/// A GPU driver gave an unexpected result; the sentence has its number.
pub const MNN_ERROR_DRIVER: i32 = 122;
/// A model or weight file is no longer the one that was loaded.
pub const MNN_ERROR_FILE_CHANGED: i32 = 123;
/// A file could not be written.
pub const MNN_ERROR_FILE_WRITE_FAILED: i32 = 124;
/// A submitted run did not end in the time that was given.
pub const MNN_ERROR_TIMEOUT: i32 = 125;
/// A defect of this library.
pub const MNN_ERROR_INTERNAL: i32 = 199;

// Element types
/// Elements are float32.
pub const MNN_TYPE_FLOAT32: i32 = 1;
/// Elements are double: of hosts only, no tensor has them.
pub const MNN_TYPE_DOUBLE: i32 = 2;
/// Elements are int32.
pub const MNN_TYPE_INT32: i32 = 3;
/// Elements are uint8.
pub const MNN_TYPE_UINT8: i32 = 4;
/// Elements are int16.
pub const MNN_TYPE_INT16: i32 = 5;
/// Elements are int8.
pub const MNN_TYPE_INT8: i32 = 6;
/// Elements are int64: of hosts only, no tensor has them.
pub const MNN_TYPE_INT64: i32 = 9;
/// Elements are bool, one byte each: of hosts only, no tensor has them.
pub const MNN_TYPE_BOOL: i32 = 10;
/// Elements are bfloat16.
pub const MNN_TYPE_BFLOAT16: i32 = 14;
/// Elements are uint16.
pub const MNN_TYPE_UINT16: i32 = 17;
/// Elements are float16.
pub const MNN_TYPE_FLOAT16: i32 = 19;

// Dimension formats
/// Batch, channel, height, width.
pub const MNN_FORMAT_NCHW: i32 = 0;
/// Batch, height, width, channel.
pub const MNN_FORMAT_NHWC: i32 = 1;
/// Channels in groups of four, the last one filled up with zeros.
pub const MNN_FORMAT_NC4HW4: i32 = 2;

// Forward types
/// The CPU.
pub const MNN_FORWARD_CPU: i32 = 0;
/// The first available backend, GPUs before the CPU.
pub const MNN_FORWARD_AUTO: i32 = 4;
/// A GPU through Vulkan.
pub const MNN_FORWARD_VULKAN: i32 = 7;
/// From here on: backends of the host's own.
pub const MNN_FORWARD_USER: i32 = 256;

// Precisions
/// fp32.
pub const MNN_PRECISION_NORMAL: i32 = 0;
/// fp32.
pub const MNN_PRECISION_HIGH: i32 = 1;
/// fp16 storage where the device has it.
pub const MNN_PRECISION_LOW: i32 = 2;
/// Taken as `MNN_PRECISION_LOW`.
pub const MNN_PRECISION_LOW_BF16: i32 = 3;

// Bits of gpu_mode
/// No search for the fastest kernels.
pub const MNN_GPU_TUNING_NONE: i32 = 1;
/// The longest search for the fastest kernels.
pub const MNN_GPU_TUNING_HEAVY: i32 = 2;
/// A long search for the fastest kernels.
pub const MNN_GPU_TUNING_WIDE: i32 = 4;
/// A search for the fastest kernels.
pub const MNN_GPU_TUNING_NORMAL: i32 = 8;
/// A short search for the fastest kernels.
pub const MNN_GPU_TUNING_FAST: i32 = 16;
/// Tensors in buffers.
pub const MNN_GPU_MEMORY_BUFFER: i32 = 64;
/// Tensors in images.
pub const MNN_GPU_MEMORY_IMAGE: i32 = 128;
/// A command buffer per operator.
pub const MNN_GPU_RECORD_OP: i32 = 256;
/// Command buffers of many operators, recorded once and replayed: the default.
pub const MNN_GPU_RECORD_BATCH: i32 = 512;

// Memory
/// The default.
pub const MNN_MEMORY_NORMAL: i32 = 0;
/// More memory may be used.
pub const MNN_MEMORY_HIGH: i32 = 1;
/// Less memory may be used.
pub const MNN_MEMORY_LOW: i32 = 2;

// Power
/// Workers on the system's choice of cores.
pub const MNN_POWER_NORMAL: i32 = 0;
/// Workers on the fastest kinds of cores.
pub const MNN_POWER_HIGH: i32 = 1;
/// Workers on the slowest kinds of cores.
pub const MNN_POWER_LOW: i32 = 2;

// How an interpreter holds its model
/// Files: mapped; memory: copy.
pub const MNN_LOAD_DEFAULT: i32 = 0;
/// Files only: mapped; the file must not change while the interpreter lives.
pub const MNN_LOAD_MAPPED: i32 = 1;
/// Files only: read into memory piece by piece; the file may change afterwards.
pub const MNN_LOAD_CHUNKED: i32 = 2;
/// Memory only: copied; the caller's bytes may go after the call.
pub const MNN_LOAD_COPY: i32 = 3;
/// Memory only: used in place. The caller keeps the bytes, unchanged, until the interpreter and
/// all its sessions are destroyed.
pub const MNN_LOAD_BORROW: i32 = 4;

// Log levels
/// MNN_LOG_WARNING.
pub const MNN_LOG_DEFAULT: i32 = 0;
/// Errors.
pub const MNN_LOG_ERROR: i32 = 1;
/// And warnings.
pub const MNN_LOG_WARNING: i32 = 2;
/// And what may be worth knowing.
pub const MNN_LOG_INFO: i32 = 3;
/// Everything.
pub const MNN_LOG_DEBUG: i32 = 4;

// The version of the library that the declarations belong to
/// The first number.
pub const MNN_C_VERSION_MAJOR: i32 = 0;
/// The second number.
pub const MNN_C_VERSION_MINOR: i32 = 1;
/// The third number.
pub const MNN_C_VERSION_PATCH: i32 = 0;

// The tool that a model was converted from
/// Caffe.
pub const MNN_SOURCE_CAFFE: i32 = 0;
/// TensorFlow.
pub const MNN_SOURCE_TENSORFLOW: i32 = 1;
/// TFLite.
pub const MNN_SOURCE_TFLITE: i32 = 2;
/// ONNX.
pub const MNN_SOURCE_ONNX: i32 = 3;
/// Torch.
pub const MNN_SOURCE_TORCH: i32 = 4;

// What a model was written for
/// Inference.
pub const MNN_USAGE_INFERENCE: i32 = 0;
/// Training.
pub const MNN_USAGE_TRAIN: i32 = 1;
/// Inference with the shapes in the file.
pub const MNN_USAGE_STATIC: i32 = 2;

// What a tensor is to its session
/// An input.
pub const MNN_TENSOR_INPUT: i32 = 0;
/// An output.
pub const MNN_TENSOR_OUTPUT: i32 = 1;
/// A constant.
pub const MNN_TENSOR_CONSTANT: i32 = 2;
/// Shown by a callback of a run.
pub const MNN_TENSOR_SHOWN: i32 = 3;

// Kinds of buffers of a device
/// A `VkBuffer` of the session's `VkDevice`, which is the host's.
pub const MNN_BUFFER_VULKAN: i32 = 1;
/// Memory of the same GPU that something else has too, by an opaque file descriptor.
pub const MNN_BUFFER_OPAQUE_FD: i32 = 2;

// Limits
/// No tensor has more dimensions.
pub const MNN_MAX_RANK: i32 = 9;
/// The most threads of one session.
pub const MNN_MAX_THREADS: i32 = 32;
/// The most paths of one session.
pub const MNN_MAX_PATHS: i32 = 64;

// Answers of a callback of a run
/// Go on.
pub const MNN_OP_RUN: i32 = 0;
/// From `before` only: leave this operator out; its outputs keep what their memory holds.
pub const MNN_OP_SKIP: i32 = 1;
/// End the run with MNN_ERROR_CALLBACK_STOP.
pub const MNN_OP_STOP: i32 = 2;

// Ways to map a tensor
/// The elements are read.
pub const MNN_MAP_READ: i32 = 1;
/// The elements are written; inputs only.
pub const MNN_MAP_WRITE: i32 = 2;
