//! Handles, structs and function types of the header.

use std::marker::{PhantomData, PhantomPinned};
use std::os::raw::{c_char, c_void};

/// A status: `MNN_OK` or one of `MNN_ERROR_*`.
pub type mnn_status = i32;

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        ///
        /// A pointer to it is an opaque value, never an address.
        #[repr(C)]
        pub struct $name {
            _bytes: [u8; 0],
            // Neither Send nor Sync nor Unpin: whoever wraps the handle decides.
            _marker: PhantomData<(*mut u8, PhantomPinned)>,
        }
    };
}

handle!(
    /// A model.
    mnn_interpreter_t
);
handle!(
    /// A model ready to run.
    mnn_session_t
);
handle!(
    /// An input or an output of a session.
    mnn_tensor_t
);
handle!(
    /// A cancellation token.
    mnn_cancel_t
);

/// A device of a backend.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_device_properties_t {
    /// The size of this struct, written by the caller.
    pub struct_size: usize,
    /// UTF-8, zero-terminated like the next two, cut where it does not fit.
    pub name: [c_char; 256],
    /// Name and version of the driver.
    pub driver: [c_char; 256],
    /// `discrete`, `integrated`, `virtual`, `cpu` or `other`.
    pub kind: [c_char; 16],
    /// The same in every process.
    pub uuid: [u8; 16],
    /// Its largest memory of its own.
    pub memory_bytes: u64,
    /// As the driver numbers them.
    pub api_version: u32,
    /// In the driver's own numbering.
    pub driver_version: u32,
    /// PCI.
    pub vendor_id: u32,
    /// PCI.
    pub device_id: u32,
    /// Invocations that run in step.
    pub subgroup_size: u32,
    /// 1: they can add up among themselves.
    pub subgroup_arithmetic: i32,
    /// 1: `MNN_PRECISION_LOW` stores tensors as fp16.
    pub fp16_storage: i32,
    /// 1: it computes in fp16.
    pub fp16_arithmetic: i32,
}

/// Receives one message about a model or a session of it.
pub type mnn_log_callback =
    Option<unsafe extern "C" fn(user_data: *mut c_void, level: i32, message: *const c_char)>;

/// Is called when a user_data will not be used again.
pub type mnn_finalizer = Option<unsafe extern "C" fn(user_data: *mut c_void)>;

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

/// The memory that a session holds.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_memory_info_t {
    /// The size of this struct, written by the caller.
    pub struct_size: usize,
    /// Planned memory for what flows between operators.
    pub arena_bytes: u64,
    /// Prepared weights and constants, shared with the interpreter's other sessions.
    pub weight_bytes: u64,
    /// Arena, weights, inputs, outputs and buffers of the operators now.
    pub total_bytes: u64,
    /// The largest `total_bytes` so far.
    pub peak_bytes: u64,
}

/// An operator that a session executes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_op_info_t {
    /// The size of this struct, written by the caller.
    pub struct_size: usize,
    /// Empty when it has none. Valid until the session's next resize or run.
    pub name: *const c_char,
    /// E.g. `Convolution`; valid as `name`.
    pub type_name: *const c_char,
    /// E.g. `cpu`: where it runs; a constant string.
    pub backend_name: *const c_char,
    /// Why the wanted backend did not take it; NULL when it did. Valid as `name`.
    pub reason: *const c_char,
    /// Per run; below 0 when that depends on contents not yet known.
    pub flops: f64,
    /// 1: shape arithmetic on small integer tensors; 0: ordinary.
    pub host_shape: i32,
    /// How it is computed; NULL when there is one way only. Valid like `name`.
    pub algorithm: *const c_char,
}

/// Called around an operator of a run; returns `MNN_OP_*`.
pub type mnn_op_callback = Option<
    unsafe extern "C" fn(
        user_data: *mut c_void,
        op: *const mnn_op_info_t,
        tensors: *const *const mnn_tensor_t,
        tensor_count: usize,
    ) -> i32,
>;

/// How to run. `mnn_run_options_init` prepares it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_run_options_t {
    /// The size of this struct, written by the init function.
    pub struct_size: usize,
    /// Ends the run; NULL: nothing does.
    pub cancel: *mut mnn_cancel_t,
    /// Called before each operator; `None`: not.
    pub before: mnn_op_callback,
    /// Called after each operator; `None`: not.
    pub after: mnn_op_callback,
    /// Handed to both.
    pub user_data: *mut c_void,
}
