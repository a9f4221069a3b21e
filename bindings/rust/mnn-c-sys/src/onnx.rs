//! The declarations of `mnn_c_onnx.h`, the interface of libmnn_c_onnx: ONNX models become .mnn models.

use crate::types::{mnn_cancel_t, mnn_status};
use std::marker::{PhantomData, PhantomPinned};
use std::os::raw::{c_char, c_void};

/// What a model became.
///
/// A pointer to it is an opaque value, never an address.
#[repr(C)]
pub struct mnn_onnx_result_t {
    _bytes: [u8; 0],
    _marker: PhantomData<(*mut u8, PhantomPinned)>,
}

// How weights are stored
/// Floats of 32 bits.
pub const MNN_ONNX_WEIGHTS_FLOAT32: i32 = 0;
/// Halves.
pub const MNN_ONNX_WEIGHTS_FLOAT16: i32 = 1;
/// Codes of 8 bits.
pub const MNN_ONNX_WEIGHTS_INT8: i32 = 2;
/// Codes of 4 bits.
pub const MNN_ONNX_WEIGHTS_INT4: i32 = 3;

/// The extents of an input.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_onnx_shape_t {
    /// Its name.
    pub input: *const c_char,
    /// -1: as the model says.
    pub dims: *const i32,
    /// The number of extents.
    pub rank: usize,
}

/// The number that a named free extent gets.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_onnx_extent_t {
    /// Its name.
    pub name: *const c_char,
    /// 0 or more.
    pub extent: i32,
}

/// Called after each node, with the numbers of nodes that are read, and that are to be read; 0 goes on.
pub type mnn_onnx_progress =
    Option<unsafe extern "C" fn(user_data: *mut c_void, done: u64, total: u64) -> i32>;

/// How a model is converted. `mnn_onnx_options_init` prepares it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_onnx_options_t {
    /// The size of this struct, written by the init function.
    pub struct_size: usize,
    /// `MNN_ONNX_WEIGHTS_FLOAT32` and so on.
    pub weights: i32,
    /// Of codes: how many weights of a row share a scale; 0: the row.
    pub weight_block: i32,
    /// Extents of inputs to fix.
    pub shapes: *const mnn_onnx_shape_t,
    /// How many.
    pub shape_count: usize,
    /// Free extents to fix, by their names.
    pub extents: *const mnn_onnx_extent_t,
    /// How many.
    pub extent_count: usize,
    /// The values that become outputs; none: the model's.
    pub outputs: *const *const c_char,
    /// How many.
    pub output_count: usize,
    /// Of external data of a model in memory; may be NULL.
    pub data_folder: *const c_char,
    /// 1: a link may lead out of the folder.
    pub follow_links: i32,
    /// 1: large arrays lie in a file of their own.
    pub weights_beside: i32,
    /// What constants may take; 0: the library's choice.
    pub max_memory_bytes: u64,
    /// Ends the conversion; may be NULL.
    pub cancel: *mut mnn_cancel_t,
    /// May be `None`.
    pub progress: mnn_onnx_progress,
    /// Handed to `progress`.
    pub progress_user_data: *mut c_void,
}

/// What became of a model.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_onnx_report_t {
    /// The size of this struct, written by the caller.
    pub struct_size: usize,
    /// Nodes of the model.
    pub nodes: i64,
    /// Calls of functions.
    pub functions: i64,
    /// Operators of the net.
    pub operators: i64,
    /// Operators whose results are constants.
    pub folded: i64,
    /// Nodes that have no form.
    pub problems: usize,
    /// What differs, or may.
    pub notes: usize,
}

/// A node without a form. The texts belong to the result.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_onnx_problem_t {
    /// The size of this struct, written by the caller.
    pub struct_size: usize,
    /// Its name, or that of its first output.
    pub node: *const c_char,
    /// "": ai.onnx.
    pub domain: *const c_char,
    /// Its operator.
    pub op_type: *const c_char,
    /// A sentence without its end.
    pub reason: *const c_char,
    /// Of the domain; 0: the model does not import it.
    pub opset: i64,
    /// `MNN_ERROR_NOT_SUPPORTED`: there is no form; others: the node is wrong.
    pub status: i32,
    /// 0.
    pub reserved: i32,
}

extern "C" {
    /// Prepares options.
    pub fn mnn_onnx_options_init(options: *mut mnn_onnx_options_t, size: usize) -> mnn_status;
    /// The sentence of the last error on this thread.
    pub fn mnn_onnx_last_error() -> *const c_char;
    /// Converts a model in a file.
    pub fn mnn_onnx_convert_file(
        path: *const c_char,
        options: *const mnn_onnx_options_t,
        out: *mut *mut mnn_onnx_result_t,
    ) -> mnn_status;
    /// Converts a model in memory.
    pub fn mnn_onnx_convert_memory(
        data: *const c_void,
        size: usize,
        options: *const mnn_onnx_options_t,
        out: *mut *mut mnn_onnx_result_t,
    ) -> mnn_status;
    /// Destroys a result and sets the handle to NULL.
    pub fn mnn_onnx_result_destroy(result: *mut *mut mnn_onnx_result_t) -> mnn_status;
    /// What became of the model.
    pub fn mnn_onnx_result_report(
        result: *const mnn_onnx_result_t,
        report: *mut mnn_onnx_report_t,
    ) -> mnn_status;
    /// A node without a form.
    pub fn mnn_onnx_result_problem(
        result: *const mnn_onnx_result_t,
        index: usize,
        problem: *mut mnn_onnx_problem_t,
    ) -> mnn_status;
    /// What differs, or may.
    pub fn mnn_onnx_result_note(
        result: *const mnn_onnx_result_t,
        index: usize,
        note: *mut *const c_char,
    ) -> mnn_status;
    /// The bytes of the .mnn model.
    pub fn mnn_onnx_result_data(
        result: *const mnn_onnx_result_t,
        data: *mut *const c_void,
        size: *mut usize,
    ) -> mnn_status;
    /// The bytes of large arrays that lie beside the model.
    pub fn mnn_onnx_result_weights(
        result: *const mnn_onnx_result_t,
        data: *mut *const c_void,
        size: *mut usize,
    ) -> mnn_status;
    /// Writes the .mnn model to a file.
    pub fn mnn_onnx_result_save(result: *const mnn_onnx_result_t, path: *const c_char) -> mnn_status;
}
