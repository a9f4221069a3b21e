//! Operators and backends of the host.

use crate::types::*;
use std::os::raw::{c_char, c_void};

/// A tensor of a node that an own operator runs; row-major.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_host_tensor_t {
    /// The size of this struct, written by the library.
    pub struct_size: usize,
    /// Empty when it has none.
    pub name: *const c_char,
    /// NULL when the elements are not known, and for no elements.
    pub data: *mut c_void,
    /// Of `data`; 0 where the shape is not known.
    pub bytes: usize,
    /// `MNN_TYPE_*`.
    pub r#type: i32,
    /// `MNN_FORMAT_*`: the order of `dims`.
    pub format: i32,
    /// Entries of `dims` that count; -1 where the shape is not known.
    pub rank: i32,
    /// The extents.
    pub dims: [i32; 9],
}

/// A named value of a node in the file.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_attribute_t {
    /// The size of this struct, written by the library.
    pub struct_size: usize,
    /// Its name.
    pub key: *const c_char,
    /// Of the value, if the converter wrote it.
    pub r#type: i32,
    /// A whole number.
    pub int_value: i32,
    /// A number.
    pub float_value: f32,
    /// 0 or 1.
    pub bool_value: i32,
    /// NULL without one.
    pub text: *const c_char,
    /// Whole numbers.
    pub ints: *const i32,
    /// Numbers at `ints`.
    pub int_count: usize,
    /// Numbers.
    pub floats: *const f32,
    /// Numbers at `floats`.
    pub float_count: usize,
    /// 0 or 1 each.
    pub bools: *const u8,
    /// Bytes at `bools`.
    pub bool_count: usize,
    /// Texts.
    pub texts: *const *const c_char,
    /// Texts at `texts`.
    pub text_count: usize,
    /// NULL without one.
    pub tensor: *const mnn_host_tensor_t,
    /// The name of a list of attributes; NULL without one.
    pub function: *const c_char,
    /// That list.
    pub attributes: *const *const mnn_attribute_t,
    /// Attributes at `attributes`.
    pub attribute_count: usize,
}

/// A node that an own operator runs.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_node_t {
    /// The size of this struct, written by the library.
    pub struct_size: usize,
    /// Never empty.
    pub name: *const c_char,
    /// Under which the operator is registered.
    pub type_name: *const c_char,
    /// What the format calls it.
    pub schema_type: *const c_char,
    /// Of an Extra: where the operator comes from.
    pub engine: *const c_char,
    /// Of an Extra: its bytes.
    pub info: *const c_void,
    /// Bytes at `info`.
    pub info_size: usize,
    /// Of a Plugin or Extra, in the order of the file.
    pub attributes: *const *const mnn_attribute_t,
    /// Attributes at `attributes`.
    pub attribute_count: usize,
    /// How many inputs it has.
    pub input_count: usize,
    /// How many outputs it has.
    pub output_count: usize,
    /// Its parameter table, where accessors of FlatBuffers want it; NULL without one.
    pub parameters: *const c_void,
    /// The number of that table in the union OpParameter.
    pub parameter_table: i32,
}

/// A call of a callback for one node.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_operator_call_t {
    /// The size of this struct, written by the library.
    pub struct_size: usize,
    /// The node.
    pub node: *const mnn_node_t,
    /// In the order of the file.
    pub inputs: *const *const mnn_host_tensor_t,
    /// Tensors at `inputs`.
    pub input_count: usize,
    /// In the order of the file.
    pub outputs: *const *mut mnn_host_tensor_t,
    /// Tensors at `outputs`.
    pub output_count: usize,
    /// What `prepare` stored here; NULL before.
    pub state: *mut c_void,
    /// A failing callback may write a sentence here.
    pub message: *mut c_char,
    /// Bytes that fit there.
    pub message_size: usize,
    /// In `prepare` of an own backend: weights and bias of a convolution or inner product; else NULL.
    pub weights: *const *const mnn_host_tensor_t,
    /// Tensors at `weights`.
    pub weight_count: usize,
}

/// A callback of an own operator or backend; returns `MNN_OK` or `MNN_ERROR_*`.
pub type mnn_operator_callback =
    Option<unsafe extern "C" fn(user_data: *mut c_void, call: *mut mnn_operator_call_t) -> mnn_status>;

/// Takes a state back.
pub type mnn_operator_release = Option<unsafe extern "C" fn(user_data: *mut c_void, state: *mut c_void)>;

/// An own operator. `mnn_operator_init` prepares it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_operator_t {
    /// The size of this struct, written by the init function.
    pub struct_size: usize,
    /// The type of the nodes.
    pub name: *const c_char,
    /// Bit i: `shape` reads the elements of input i.
    pub content_inputs: u64,
    /// Shapes the outputs; `None`: as the inputs.
    pub shape: mnn_operator_callback,
    /// May store a state for a plan.
    pub prepare: mnn_operator_callback,
    /// Writes the outputs; not `None`.
    pub compute: mnn_operator_callback,
    /// Takes a state back.
    pub release: mnn_operator_release,
    /// Handed to the callbacks.
    pub user_data: *mut c_void,
    /// Called once after the last callback.
    pub finalizer: mnn_finalizer,
}

/// A backend of the host's own. `mnn_backend_init` prepares it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_backend_t {
    /// The size of this struct, written by the init function.
    pub struct_size: usize,
    /// Names it in messages.
    pub name: *const c_char,
    /// Says whether it computes a node; not `None`.
    pub supports: mnn_operator_callback,
    /// May store a state for a node of a plan.
    pub prepare: mnn_operator_callback,
    /// Writes the outputs; not `None`.
    pub compute: mnn_operator_callback,
    /// Takes a state back.
    pub release: mnn_operator_release,
    /// Handed to the callbacks.
    pub user_data: *mut c_void,
    /// Called once after the last callback.
    pub finalizer: mnn_finalizer,
}
