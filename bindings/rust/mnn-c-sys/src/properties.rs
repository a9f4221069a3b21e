//! Structs that describe: the processor, a model, a session, a tensor.

use std::os::raw::c_char;

/// The processor of this machine. Of its features 1 says that it has one, 0 that it has not, -1 that it is not known.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_cpu_properties_t {
    /// The size of this struct, written by the caller.
    pub struct_size: usize,
    /// What `cpu_isa` takes, best first, separated by spaces.
    pub isas: [c_char; 64],
    /// The features that the library looks for.
    pub features: [c_char; 128],
    /// That the system runs; 0 when it does not say.
    pub logical_cores: i32,
    /// It adds up products of int8 in one instruction.
    pub int8_products: i32,
    /// It adds up products of bf16.
    pub bf16_products: i32,
    /// It computes in fp16.
    pub fp16_arithmetic: i32,
    /// First level data cache of a core; 0: not known.
    pub l1_data_bytes: i64,
    /// Second level cache of a core; 0: not known.
    pub l2_bytes: i64,
    /// The core whose costs choose between algorithms.
    pub cost_record: [c_char; 32],
}

/// What a model says of an input or an output before a session exists.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_declaration_t {
    /// The size of this struct, written by the caller.
    pub struct_size: usize,
    /// A string of the interpreter.
    pub name: *const c_char,
    /// `MNN_TYPE_*` as the file has it; 0: it does not say.
    pub declared_type: i32,
    /// `MNN_TYPE_*` in a session; 0: only a session knows.
    pub r#type: i32,
    /// `MNN_FORMAT_*`; -1: only a session knows.
    pub format: i32,
    /// Entries of `dims` that count; -1: only a session knows.
    pub rank: i32,
    /// Extents; -1: open.
    pub dims: [i32; 9],
}

/// What a model says about itself.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_model_properties_t {
    /// The size of this struct, written by the caller.
    pub struct_size: usize,
    /// `MNN_SOURCE_*`.
    pub source: i32,
    /// `MNN_USAGE_*`.
    pub usage: i32,
    /// Without its file of external weights.
    pub byte_size: u64,
    /// Pairs that `mnn_interpreter_metadata` gives.
    pub metadata_count: u64,
    /// Bodies of control flow.
    pub subgraph_count: u64,
    /// 1: the file was written without weights.
    pub weightless: i32,
}

/// How a session is set up. Its strings are the session's.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_session_properties_t {
    /// The size of this struct, written by the caller.
    pub struct_size: usize,
    /// `MNN_FORWARD_*` of the backend that runs it.
    pub forward_type: i32,
    /// Of the configuration, like the other wanted ones.
    pub wanted_forward_type: i32,
    /// Why the wanted backend does not run it; NULL: it does.
    pub reason: *const c_char,
    /// The name of its GPU; NULL on the CPU.
    pub device: *const c_char,
    /// The instruction set of its operators on the CPU.
    pub cpu_isa: *const c_char,
    /// That a run can have.
    pub threads: i32,
    /// At least 1.
    pub wanted_threads: i32,
    /// `MNN_PRECISION_*`: what is computed with.
    pub precision: i32,
    /// `MNN_PRECISION_LOW` for `MNN_PRECISION_LOW_BF16`.
    pub wanted_precision: i32,
    /// Why it is not the wanted one; NULL: it is.
    pub precision_reason: *const c_char,
    /// `MNN_MEMORY_*`: how weights are kept.
    pub memory: i32,
    /// Of the configuration.
    pub wanted_memory: i32,
    /// Why it is not the wanted one; NULL: it is.
    pub memory_reason: *const c_char,
    /// The `MNN_GPU_*` bits that hold; 0 on the CPU.
    pub gpu_mode: i32,
}

/// What a session has done since its creation.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_statistics_t {
    /// The size of this struct, written by the caller.
    pub struct_size: usize,
    /// Runs that succeeded.
    pub runs: u64,
    /// Runs that began and failed.
    pub failed_runs: u64,
    /// Nanoseconds of the last run that succeeded.
    pub last_run_ns: u64,
    /// Of all that succeeded.
    pub total_run_ns: u64,
    /// Times that it was planned, at its creation and by resizes.
    pub plans: u64,
    /// Plans that failed.
    pub failed_plans: u64,
    /// Nanoseconds of the last plan.
    pub last_plan_ns: u64,
    /// Of all plans.
    pub total_plan_ns: u64,
    /// Plans of stages, also those that runs made.
    pub stage_plans: u64,
    /// How often memory of a GPU was taken for tensors.
    pub device_allocations: u64,
    /// As in `mnn_memory_info_t`.
    pub memory_bytes: u64,
    /// As in `mnn_memory_info_t`.
    pub peak_memory_bytes: u64,
    /// 1: it used a cache of compiled pipelines.
    pub cache_read: i32,
    /// 1: its creation or a resize wrote the cache file.
    pub cache_written: i32,
}

/// Where a tensor lies, and how.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_tensor_properties_t {
    /// The size of this struct, written by the caller.
    pub struct_size: usize,
    /// `MNN_TENSOR_*`.
    pub kind: i32,
    /// `MNN_FORWARD_*` of the backend in whose memory it lies.
    pub forward_type: i32,
    /// `MNN_TYPE_*`.
    pub r#type: i32,
    /// `MNN_FORMAT_*`.
    pub format: i32,
    /// How many channels lie together; 1: row-major.
    pub channel_block: i32,
    /// 0: an input on which no output depends.
    pub used: i32,
}
