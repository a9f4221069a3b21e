//! How a session runs, and what it says of its memory and operators.

use crate::types::*;
use std::os::raw::{c_char, c_void};

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
    /// After the operator in a run with `device_times`: ms by the clock of the GPU; below 0: not known.
    pub device_ms: f64,
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

/// Called once when a run has ended.
pub type mnn_run_callback = Option<unsafe extern "C" fn(user_data: *mut c_void, status: mnn_status)>;

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
    /// Handed to all of them.
    pub user_data: *mut c_void,
    /// 1: the GPU runs its operators one after another and measures each; 0: it overlaps them where it can.
    pub device_times: i32,
    /// Called once when the run has ended; `None`: not.
    pub done: mnn_run_callback,
}
