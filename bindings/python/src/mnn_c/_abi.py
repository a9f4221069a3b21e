"""The structs and the types of callbacks of mnn_c.h, field by field. tests/test_header.py compares them with the header."""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_double,
    c_float,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)

MAX_RANK = 9
MAX_THREADS = 32
MAX_PATHS = 64

LogCallback = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)
Finalizer = CFUNCTYPE(None, c_void_p)
Task = CFUNCTYPE(None, c_void_p, c_int32)
ParallelFor = CFUNCTYPE(None, c_void_p, Task, c_void_p, c_int32)
Allocate = CFUNCTYPE(c_void_p, c_void_p, c_size_t, c_size_t)
Release = CFUNCTYPE(None, c_void_p, c_void_p, c_size_t, c_size_t)
QueueCallback = CFUNCTYPE(None, c_void_p)
WeightReader = CFUNCTYPE(c_int32, c_void_p, c_uint64, c_void_p, c_size_t)


class DeviceProperties(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char * 256),
        ("driver", c_char * 256),
        ("kind", c_char * 16),
        ("uuid", c_uint8 * 16),
        ("memory_bytes", c_uint64),
        ("api_version", c_uint32),
        ("driver_version", c_uint32),
        ("vendor_id", c_uint32),
        ("device_id", c_uint32),
        ("subgroup_size", c_uint32),
        ("subgroup_arithmetic", c_int32),
        ("fp16_storage", c_int32),
        ("fp16_arithmetic", c_int32),
    ]


class CpuProperties(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("isas", c_char * 64),
        ("features", c_char * 128),
        ("logical_cores", c_int32),
        ("int8_products", c_int32),
        ("bf16_products", c_int32),
        ("fp16_arithmetic", c_int32),
        ("l1_data_bytes", c_int64),
        ("l2_bytes", c_int64),
        ("cost_record", c_char * 32),
    ]


class InterpreterOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("load_mode", c_int32),
        ("log_level", c_int32),
        ("external_weight_path", c_char_p),
        ("log_callback", LogCallback),
        ("log_user_data", c_void_p),
        ("log_finalizer", Finalizer),
        ("cancel", c_void_p),
        ("bytes_finalizer", Finalizer),
        ("bytes_user_data", c_void_p),
        ("external_weight_data", c_void_p),
        ("external_weight_reader", WeightReader),
        ("external_weight_size", c_uint64),
        ("external_weight_mode", c_int32),
        ("external_weight_user_data", c_void_p),
        ("external_weight_finalizer", Finalizer),
    ]


class Declaration(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("declared_type", c_int32),
        ("type", c_int32),
        ("format", c_int32),
        ("rank", c_int32),
        ("dims", c_int32 * MAX_RANK),
    ]


class ModelProperties(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("source", c_int32),
        ("usage", c_int32),
        ("byte_size", c_uint64),
        ("metadata_count", c_uint64),
        ("subgraph_count", c_uint64),
        ("weightless", c_int32),
    ]


class HostTensor(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("data", c_void_p),
        ("bytes", c_size_t),
        ("type", c_int32),
        ("format", c_int32),
        ("rank", c_int32),
        ("dims", c_int32 * MAX_RANK),
    ]


class Attribute(Structure):
    pass


Attribute._fields_ = [
    ("struct_size", c_size_t),
    ("key", c_char_p),
    ("type", c_int32),
    ("int_value", c_int32),
    ("float_value", c_float),
    ("bool_value", c_int32),
    ("text", c_char_p),
    ("ints", POINTER(c_int32)),
    ("int_count", c_size_t),
    ("floats", POINTER(c_float)),
    ("float_count", c_size_t),
    ("bools", POINTER(c_uint8)),
    ("bool_count", c_size_t),
    ("texts", POINTER(c_char_p)),
    ("text_count", c_size_t),
    ("tensor", POINTER(HostTensor)),
    ("function", c_char_p),
    ("attributes", POINTER(POINTER(Attribute))),
    ("attribute_count", c_size_t),
]


class Node(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("type_name", c_char_p),
        ("schema_type", c_char_p),
        ("engine", c_char_p),
        ("info", c_void_p),
        ("info_size", c_size_t),
        ("attributes", POINTER(POINTER(Attribute))),
        ("attribute_count", c_size_t),
        ("input_count", c_size_t),
        ("output_count", c_size_t),
        ("parameters", c_void_p),
        ("parameter_table", c_int32),
    ]


class OperatorCall(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("node", POINTER(Node)),
        ("inputs", POINTER(POINTER(HostTensor))),
        ("input_count", c_size_t),
        ("outputs", POINTER(POINTER(HostTensor))),
        ("output_count", c_size_t),
        ("state", c_void_p),
        ("message", c_void_p),
        ("message_size", c_size_t),
        ("weights", POINTER(POINTER(HostTensor))),
        ("weight_count", c_size_t),
    ]


OperatorCallback = CFUNCTYPE(c_int32, c_void_p, POINTER(OperatorCall))
OperatorRelease = CFUNCTYPE(None, c_void_p, c_void_p)


class Operator(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("content_inputs", c_uint64),
        ("shape", OperatorCallback),
        ("prepare", OperatorCallback),
        ("compute", OperatorCallback),
        ("release", OperatorRelease),
        ("user_data", c_void_p),
        ("finalizer", Finalizer),
    ]


class Backend(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("supports", OperatorCallback),
        ("prepare", OperatorCallback),
        ("compute", OperatorCallback),
        ("release", OperatorRelease),
        ("user_data", c_void_p),
        ("finalizer", Finalizer),
    ]


class VulkanObjects(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("instance", c_void_p),
        ("physical_device", c_void_p),
        ("device", c_void_p),
        ("queue", c_void_p),
        ("queue_family", c_uint32),
        ("storage_16bit", c_int32),
        ("lock_queue", QueueCallback),
        ("unlock_queue", QueueCallback),
        ("user_data", c_void_p),
        ("finalizer", Finalizer),
    ]


class DeviceBuffer(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_int32),
        ("allocate", c_int32),
        ("buffer", c_uint64),
        ("offset", c_uint64),
        ("bytes", c_uint64),
        ("memory_bytes", c_uint64),
        ("memory_type", c_uint32),
        ("fd", c_int32),
        ("memory", c_uint64),
        ("memory_offset", c_uint64),
    ]


class RuntimeConfig(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("threads", c_int32),
        ("power", c_int32),
        ("cores", POINTER(c_int32)),
        ("core_count", c_size_t),
        ("parallel_for", ParallelFor),
        ("parallel_for_user_data", c_void_p),
        ("parallel_for_finalizer", Finalizer),
        ("allocate", Allocate),
        ("release", Release),
        ("allocator_user_data", c_void_p),
        ("allocator_finalizer", Finalizer),
        ("device", c_char_p),
        ("vulkan", POINTER(VulkanObjects)),
        ("log_callback", LogCallback),
        ("log_user_data", c_void_p),
        ("log_finalizer", Finalizer),
        ("log_level", c_int32),
        ("cpu_costs", c_char_p),
    ]


class ScheduleConfig(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("forward_type", c_int32),
        ("backup_type", c_int32),
        ("allow_fallback", c_int32),
        ("threads", c_int32),
        ("precision", c_int32),
        ("memory", c_int32),
        ("power", c_int32),
        ("gpu_mode", c_int32),
        ("cpu_isa", c_char_p),
        ("outputs", POINTER(c_char_p)),
        ("output_count", c_size_t),
        ("save_tensors", POINTER(c_char_p)),
        ("save_tensor_count", c_size_t),
        ("max_memory_bytes", c_uint64),
        ("max_loop_iterations", c_uint64),
        ("device", c_char_p),
        ("cancel", c_void_p),
        ("record_plan", c_int32),
        ("keep_subnormals", c_int32),
        ("defer_planning", c_int32),
        ("plan_cache", c_int32),
        ("runtime", c_void_p),
        ("inputs", POINTER(c_char_p)),
        ("input_count", c_size_t),
        ("operators", POINTER(c_char_p)),
        ("operator_count", c_size_t),
        ("tuning_operators", c_int32),
        ("source_operators", POINTER(c_char_p)),
        ("source_operator_count", c_size_t),
        ("sink_operators", POINTER(c_char_p)),
        ("sink_operator_count", c_size_t),
    ]


class ResizeOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("cancel", c_void_p),
    ]


class SessionProperties(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("forward_type", c_int32),
        ("wanted_forward_type", c_int32),
        ("reason", c_char_p),
        ("device", c_char_p),
        ("cpu_isa", c_char_p),
        ("threads", c_int32),
        ("wanted_threads", c_int32),
        ("precision", c_int32),
        ("wanted_precision", c_int32),
        ("precision_reason", c_char_p),
        ("memory", c_int32),
        ("wanted_memory", c_int32),
        ("memory_reason", c_char_p),
        ("gpu_mode", c_int32),
    ]


class Statistics(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("runs", c_uint64),
        ("failed_runs", c_uint64),
        ("last_run_ns", c_uint64),
        ("total_run_ns", c_uint64),
        ("plans", c_uint64),
        ("failed_plans", c_uint64),
        ("last_plan_ns", c_uint64),
        ("total_plan_ns", c_uint64),
        ("stage_plans", c_uint64),
        ("device_allocations", c_uint64),
        ("memory_bytes", c_uint64),
        ("peak_memory_bytes", c_uint64),
        ("cache_read", c_int32),
        ("cache_written", c_int32),
    ]


class MemoryInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("arena_bytes", c_uint64),
        ("weight_bytes", c_uint64),
        ("total_bytes", c_uint64),
        ("peak_bytes", c_uint64),
    ]


class OpInfo(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("type_name", c_char_p),
        ("backend_name", c_char_p),
        ("reason", c_char_p),
        ("flops", c_double),
        ("host_shape", c_int32),
        ("algorithm", c_char_p),
        ("device_ms", c_double),
    ]


OpCallback = CFUNCTYPE(c_int32, c_void_p, POINTER(OpInfo), POINTER(c_void_p), c_size_t)


RunCallback = CFUNCTYPE(None, c_void_p, c_int32)


class RunOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("cancel", c_void_p),
        ("before", OpCallback),
        ("after", OpCallback),
        ("user_data", c_void_p),
        ("device_times", c_int32),
        ("done", RunCallback),
    ]


class TensorProperties(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_int32),
        ("forward_type", c_int32),
        ("type", c_int32),
        ("format", c_int32),
        ("channel_block", c_int32),
        ("used", c_int32),
    ]
