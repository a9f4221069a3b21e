//! Sessions: inputs and outputs, planning, runs, reports.

use crate::config::*;
use crate::properties::*;
use crate::runs::*;
use crate::types::*;
use std::os::raw::{c_char, c_void};

extern "C" {
    /// Fills the configuration with defaults: the CPU, one thread.
    pub fn mnn_schedule_config_init(config: *mut mnn_schedule_config_t, struct_size: usize) -> mnn_status;
    /// Prepares a model for running.
    pub fn mnn_session_create(
        interpreter: *mut mnn_interpreter_t,
        config: *const mnn_schedule_config_t,
        out: *mut *mut mnn_session_t,
    ) -> mnn_status;
    /// Prepares several parts of a model that run one after another.
    pub fn mnn_session_create_paths(
        interpreter: *mut mnn_interpreter_t,
        configs: *const mnn_schedule_config_t,
        count: usize,
        out: *mut *mut mnn_session_t,
    ) -> mnn_status;
    /// Destroys a session with its tensors, joins its threads and sets the handle to NULL.
    pub fn mnn_session_destroy(session: *mut *mut mnn_session_t) -> mnn_status;
    /// How many inputs the session has.
    pub fn mnn_session_input_count(session: *const mnn_session_t, count: *mut usize) -> mnn_status;
    /// Finds an input by name.
    pub fn mnn_session_input(
        session: *const mnn_session_t,
        name: *const c_char,
        tensor: *mut *mut mnn_tensor_t,
    ) -> mnn_status;
    /// Gets an input by index.
    pub fn mnn_session_input_at(
        session: *const mnn_session_t,
        index: usize,
        tensor: *mut *mut mnn_tensor_t,
    ) -> mnn_status;
    /// How many outputs the session has: those of the model, or `outputs` of the
    /// configuration, and then `save_tensors`.
    pub fn mnn_session_output_count(session: *const mnn_session_t, count: *mut usize) -> mnn_status;
    /// Finds an output by name.
    pub fn mnn_session_output(
        session: *const mnn_session_t,
        name: *const c_char,
        tensor: *mut *mut mnn_tensor_t,
    ) -> mnn_status;
    /// Gets an output by index.
    pub fn mnn_session_output_at(
        session: *const mnn_session_t,
        index: usize,
        tensor: *mut *mut mnn_tensor_t,
    ) -> mnn_status;
    /// Changes the shape of an input.
    pub fn mnn_session_resize_input(
        session: *mut mnn_session_t,
        input: *mut mnn_tensor_t,
        dims: *const i32,
        rank: usize,
    ) -> mnn_status;
    /// Binds an input to memory of the caller; NULL releases it.
    pub fn mnn_session_bind_input(
        session: *mut mnn_session_t,
        tensor: *mut mnn_tensor_t,
        data: *const c_void,
        bytes: usize,
        format: i32,
    ) -> mnn_status;
    /// Binds an output to memory of the caller; NULL releases it.
    pub fn mnn_session_bind_output(
        session: *mut mnn_session_t,
        tensor: *mut mnn_tensor_t,
        data: *mut c_void,
        bytes: usize,
        format: i32,
    ) -> mnn_status;
    /// Fills the struct with zeros.
    pub fn mnn_device_buffer_init(buffer: *mut mnn_device_buffer_t, struct_size: usize) -> mnn_status;
    /// Binds an input to a buffer of the session's device; NULL releases it.
    pub fn mnn_session_bind_input_buffer(
        session: *mut mnn_session_t,
        tensor: *mut mnn_tensor_t,
        buffer: *const mnn_device_buffer_t,
    ) -> mnn_status;
    /// Binds an output to a buffer of the session's device; NULL releases it.
    pub fn mnn_session_bind_output_buffer(
        session: *mut mnn_session_t,
        tensor: *mut mnn_tensor_t,
        buffer: *const mnn_device_buffer_t,
    ) -> mnn_status;
    /// `mnn_session_resize_input` of an input of four dimensions by their meaning.
    pub fn mnn_session_resize_input_nchw(
        session: *mut mnn_session_t,
        input: *mut mnn_tensor_t,
        batch: i32,
        channel: i32,
        height: i32,
        width: i32,
    ) -> mnn_status;
    /// Whether the session is not planned for the shapes of its inputs, so that `mnn_session_resize`
    /// must come before a run.
    pub fn mnn_session_needs_resize(session: *const mnn_session_t, needed: *mut bool) -> mnn_status;
    /// Plans the session for the present shapes of its inputs: shapes, memory, kernels.
    pub fn mnn_session_resize(session: *mut mnn_session_t) -> mnn_status;
    /// Fills the options with defaults.
    pub fn mnn_resize_options_init(options: *mut mnn_resize_options_t, struct_size: usize) -> mnn_status;
    /// `mnn_session_resize` with options.
    pub fn mnn_session_resize_with_options(
        session: *mut mnn_session_t,
        options: *const mnn_resize_options_t,
    ) -> mnn_status;
    /// Gives the memory back that the plan in use does not need.
    pub fn mnn_session_trim(session: *mut mnn_session_t) -> mnn_status;
    /// Runs the session: computes all outputs from the inputs as last written.
    pub fn mnn_session_run(session: *mut mnn_session_t) -> mnn_status;
    /// Where the session runs.
    pub fn mnn_session_forward_type(
        session: *const mnn_session_t,
        forward_type: *mut i32,
        reason: *mut *const c_char,
    ) -> mnn_status;
    /// How a session is set up.
    pub fn mnn_session_info(session: *const mnn_session_t, info: *mut mnn_session_properties_t)
        -> mnn_status;
    /// How one path of a session is set up.
    pub fn mnn_session_path_info(
        session: *const mnn_session_t,
        path: usize,
        info: *mut mnn_session_properties_t,
    ) -> mnn_status;
    /// What a session has done since its creation.
    pub fn mnn_session_statistics(
        session: *const mnn_session_t,
        statistics: *mut mnn_statistics_t,
    ) -> mnn_status;
    /// How many constants the session has.
    pub fn mnn_session_constant_count(session: *const mnn_session_t, count: *mut usize) -> mnn_status;
    /// The name of a constant.
    pub fn mnn_session_constant_name(
        session: *const mnn_session_t,
        index: usize,
        name: *mut *const c_char,
    ) -> mnn_status;
    /// Finds a constant by name, to be read and written.
    pub fn mnn_session_constant(
        session: *mut mnn_session_t,
        name: *const c_char,
        tensor: *mut *mut mnn_tensor_t,
    ) -> mnn_status;
    /// Copies the compiled pipelines of a GPU session, for `mnn_interpreter_set_cache` of a later
    /// process.
    pub fn mnn_session_cache(
        session: *const mnn_session_t,
        buffer: *mut c_void,
        capacity: usize,
        needed: *mut usize,
    ) -> mnn_status;
    /// Describes a session as text for people: `passes`, `plan`, `plan after:NAME`, `algorithms`.
    pub fn mnn_session_report(
        session: *const mnn_session_t,
        what: *const c_char,
        buffer: *mut c_char,
        capacity: usize,
        needed: *mut usize,
    ) -> mnn_status;
    /// Whether the session used the cache that it was offered.
    pub fn mnn_session_cache_accepted(session: *const mnn_session_t, accepted: *mut bool) -> mnn_status;
    /// The memory that a session holds, in bytes, without the model's own bytes.
    pub fn mnn_session_memory(session: *const mnn_session_t, memory: *mut mnn_memory_info_t) -> mnn_status;
    /// The work of one run in floating point operations (a multiply-add is two).
    pub fn mnn_session_flops(
        session: *const mnn_session_t,
        flops: *mut f64,
        complete: *mut bool,
    ) -> mnn_status;
    /// How many operators the session executes: after constant folding and fusion, those of
    /// control flow's bodies included.
    pub fn mnn_session_op_count(session: *const mnn_session_t, count: *mut usize) -> mnn_status;
    /// Describes an operator of the session: where it runs, and why.
    pub fn mnn_session_op_info(
        session: *const mnn_session_t,
        index: usize,
        info: *mut mnn_op_info_t,
    ) -> mnn_status;
    /// Fills the options with defaults.
    pub fn mnn_run_options_init(options: *mut mnn_run_options_t, struct_size: usize) -> mnn_status;
    /// `mnn_session_run` with options.
    pub fn mnn_session_run_with_options(
        session: *mut mnn_session_t,
        options: *const mnn_run_options_t,
    ) -> mnn_status;
    /// Begins a run and returns without waiting for its end.
    pub fn mnn_session_submit(session: *mut mnn_session_t, options: *const mnn_run_options_t) -> mnn_status;
    /// Waits for the run that `mnn_session_submit` began.
    pub fn mnn_session_wait(session: *mut mnn_session_t, timeout_ns: i64) -> mnn_status;
}
