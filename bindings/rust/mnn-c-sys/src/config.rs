//! How models are loaded, and how sessions, runtimes and buffers of devices are made.

use crate::types::*;
use std::os::raw::{c_char, c_void};

/// Reads external weights.
pub type mnn_weight_reader = Option<
    unsafe extern "C" fn(
        user_data: *mut c_void,
        offset: u64,
        destination: *mut c_void,
        bytes: usize,
    ) -> mnn_status,
>;

/// How to load a model. `mnn_interpreter_options_init` prepares it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_interpreter_options_t {
    /// The size of this struct, written by the init function.
    pub struct_size: usize,
    /// `MNN_LOAD_*`.
    pub load_mode: i32,
    /// `MNN_LOG_*`: messages above it are not sent.
    pub log_level: i32,
    /// File of external weights; NULL: the model's path with `.weight` behind it.
    pub external_weight_path: *const c_char,
    /// NULL: no messages. Kept while the interpreter or a session lives.
    pub log_callback: mnn_log_callback,
    /// Handed to `log_callback`.
    pub log_user_data: *mut c_void,
    /// Called once with `log_user_data` after the last message, not when the creation fails.
    pub log_finalizer: mnn_finalizer,
    /// Ends the load; NULL: nothing does.
    pub cancel: *mut mnn_cancel_t,
    /// Called with `bytes_user_data` when the bytes of `MNN_LOAD_BORROW` are needed no more.
    pub bytes_finalizer: mnn_finalizer,
    /// Handed to `bytes_finalizer`.
    pub bytes_user_data: *mut c_void,
    /// External weights in memory; NULL: none.
    pub external_weight_data: *const c_void,
    /// Reads external weights; NULL: none.
    pub external_weight_reader: mnn_weight_reader,
    /// Bytes of either.
    pub external_weight_size: u64,
    /// `MNN_LOAD_*` of `external_weight_data`.
    pub external_weight_mode: i32,
    /// Handed to the reader and to the finalizer.
    pub external_weight_user_data: *mut c_void,
    /// Called when the reader or the borrowed weights are needed no more.
    pub external_weight_finalizer: mnn_finalizer,
}

/// Where and how a session runs. `mnn_schedule_config_init` prepares it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_schedule_config_t {
    /// The size of this struct, written by the init function.
    pub struct_size: usize,
    /// `MNN_FORWARD_*`: the wanted backend.
    pub forward_type: i32,
    /// `MNN_FORWARD_*`: taken with `allow_fallback`.
    pub backup_type: i32,
    /// 1: `backup_type` replaces a wanted backend that is missing; 0: that is an error.
    pub allow_fallback: i32,
    /// CPU threads, 1 to `MNN_MAX_THREADS`; 0 means 1.
    pub threads: i32,
    /// `MNN_PRECISION_*`.
    pub precision: i32,
    /// `MNN_MEMORY_*`.
    pub memory: i32,
    /// `MNN_POWER_*`.
    pub power: i32,
    /// `MNN_GPU_*` bits, 0: the library's choice.
    pub gpu_mode: i32,
    /// Forces an instruction set; NULL: the best that the machine has.
    pub cpu_isa: *const c_char,
    /// Names of the only tensors to compute; NULL: the model's outputs.
    pub outputs: *const *const c_char,
    /// Names at `outputs`.
    pub output_count: usize,
    /// Names of tensors to offer as outputs beside those.
    pub save_tensors: *const *const c_char,
    /// Names at `save_tensors`.
    pub save_tensor_count: usize,
    /// Most bytes a session may plan for; 0: the library's limit.
    pub max_memory_bytes: u64,
    /// Most iterations of one loop of the model in a run; 0: the library's limit.
    pub max_loop_iterations: u64,
    /// The GPU: index, UUID or a part of the name; NULL: the best.
    pub device: *const c_char,
    /// Ends the creation; NULL: nothing does.
    pub cancel: *mut mnn_cancel_t,
    /// 1: keeps what `mnn_session_report` prints of the plan.
    pub record_plan: i32,
    /// 0.
    pub keep_subnormals: i32,
    /// 1: the session is created without a plan.
    pub defer_planning: i32,
    /// How many plans are kept, 1 to 64; 0 means 2.
    pub plan_cache: i32,
    /// Shares its threads, memory and device; NULL: the session makes its own.
    pub runtime: *mut mnn_runtime_t,
    /// Names of tensors, anywhere in the model, that the caller writes; NULL: the model's inputs alone.
    pub inputs: *const *const c_char,
    /// Names at `inputs`.
    pub input_count: usize,
    /// Names of the only operators to run; NULL: those that the outputs need.
    pub operators: *const *const c_char,
    /// Names at `operators`.
    pub operator_count: usize,
    /// The most operators that the session measures; 0: no limit.
    pub tuning_operators: i32,
    /// Names of the operators where the path begins; NULL with `sink_operators`: the model's inputs.
    pub source_operators: *const *const c_char,
    /// Names at `source_operators`.
    pub source_operator_count: usize,
    /// Names of the operators where it ends; NULL with `source_operators`: outputs of the model.
    pub sink_operators: *const *const c_char,
    /// Names at `sink_operators`.
    pub sink_operator_count: usize,
}

/// Computes one piece of work.
pub type mnn_task = Option<unsafe extern "C" fn(context: *mut c_void, index: i32)>;

/// Runs work on threads of the host.
pub type mnn_parallel_for =
    Option<unsafe extern "C" fn(user_data: *mut c_void, task: mnn_task, context: *mut c_void, count: i32)>;

/// Gives memory; NULL when there is none.
pub type mnn_allocate =
    Option<unsafe extern "C" fn(user_data: *mut c_void, size: usize, alignment: usize) -> *mut c_void>;

/// Takes memory back.
pub type mnn_release =
    Option<unsafe extern "C" fn(user_data: *mut c_void, memory: *mut c_void, size: usize, alignment: usize)>;

/// Locks or unlocks a queue of Vulkan.
pub type mnn_queue_callback = Option<unsafe extern "C" fn(user_data: *mut c_void)>;

/// Vulkan objects of the host. `mnn_vulkan_objects_init` prepares it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_vulkan_objects_t {
    /// The size of this struct, written by the init function.
    pub struct_size: usize,
    /// `VkInstance`.
    pub instance: *mut c_void,
    /// `VkPhysicalDevice`.
    pub physical_device: *mut c_void,
    /// `VkDevice`.
    pub device: *mut c_void,
    /// `VkQueue`.
    pub queue: *mut c_void,
    /// Of `queue`.
    pub queue_family: u32,
    /// 1: the device was created with `storageBuffer16BitAccess`.
    pub storage_16bit: i32,
    /// Waits until nothing else uses the queue; NULL: nothing does.
    pub lock_queue: mnn_queue_callback,
    /// NULL when `lock_queue` is.
    pub unlock_queue: mnn_queue_callback,
    /// Handed to both and to the finalizer.
    pub user_data: *mut c_void,
    /// Called once when the library uses the objects no more.
    pub finalizer: mnn_finalizer,
}

/// A buffer of a device. `mnn_device_buffer_init` prepares it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_device_buffer_t {
    /// The size of this struct, written by the init function.
    pub struct_size: usize,
    /// `MNN_BUFFER_*`.
    pub kind: i32,
    /// 1: the session makes the buffer, and the other fields are not read.
    pub allocate: i32,
    /// `MNN_BUFFER_VULKAN`: the `VkBuffer`.
    pub buffer: u64,
    /// Bytes before the first element.
    pub offset: u64,
    /// Bytes from there on that may be used.
    pub bytes: u64,
    /// `MNN_BUFFER_OPAQUE_FD`: the `allocationSize` of the memory.
    pub memory_bytes: u64,
    /// `MNN_BUFFER_OPAQUE_FD`: the `memoryTypeIndex` of the memory.
    pub memory_type: u32,
    /// `MNN_BUFFER_OPAQUE_FD`: the file descriptor.
    pub fd: i32,
    /// Only written: the `VkDeviceMemory`.
    pub memory: u64,
    /// Only written: bytes before the first element in it.
    pub memory_offset: u64,
}

/// What sessions share. `mnn_runtime_config_init` prepares it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_runtime_config_t {
    /// The size of this struct, written by the init function.
    pub struct_size: usize,
    /// CPU threads, the caller's of a run included, 1 to `MNN_MAX_THREADS`; 0 means 1.
    pub threads: i32,
    /// `MNN_POWER_*`, of the workers.
    pub power: i32,
    /// The only cores that workers may use; NULL: any.
    pub cores: *const i32,
    /// Numbers at `cores`.
    pub core_count: usize,
    /// The host's threads in place of workers; NULL: workers.
    pub parallel_for: mnn_parallel_for,
    /// Handed to `parallel_for`.
    pub parallel_for_user_data: *mut c_void,
    /// Called once after the last call of `parallel_for`, not when the creation fails.
    pub parallel_for_finalizer: mnn_finalizer,
    /// Gives memory for tensors, inputs and weights; NULL: the library's.
    pub allocate: mnn_allocate,
    /// Takes back what `allocate` gave.
    pub release: mnn_release,
    /// Handed to `allocate` and `release`.
    pub allocator_user_data: *mut c_void,
    /// Called once after the last call of both, not when the creation fails.
    pub allocator_finalizer: mnn_finalizer,
    /// The GPU of sessions that name none; NULL: the best.
    pub device: *const c_char,
    /// Vulkan objects of the host; NULL: the library makes them.
    pub vulkan: *const mnn_vulkan_objects_t,
    /// NULL: no messages.
    pub log_callback: mnn_log_callback,
    /// Handed to `log_callback`.
    pub log_user_data: *mut c_void,
    /// Called once after the last message, not when the creation fails.
    pub log_finalizer: mnn_finalizer,
    /// `MNN_LOG_*`: messages above it are not sent.
    pub log_level: i32,
    /// What `mnn_cpu_calibrate` measured; NULL: the costs that the library knows.
    pub cpu_costs: *const c_char,
}

/// How to resize. `mnn_resize_options_init` prepares it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_resize_options_t {
    /// The size of this struct, written by the init function.
    pub struct_size: usize,
    /// Ends the resize; NULL: nothing does.
    pub cancel: *mut mnn_cancel_t,
}
