//! Models, and operators of the host for their nodes.

use crate::config::*;
use crate::operators::*;
use crate::properties::*;
use crate::types::*;
use std::os::raw::{c_char, c_void};

extern "C" {
    /// Fills the options with defaults.
    pub fn mnn_interpreter_options_init(
        options: *mut mnn_interpreter_options_t,
        struct_size: usize,
    ) -> mnn_status;
    /// Loads a model from a file and verifies it.
    pub fn mnn_interpreter_create_from_file(
        path: *const c_char,
        options: *const mnn_interpreter_options_t,
        out: *mut *mut mnn_interpreter_t,
    ) -> mnn_status;
    /// Loads a model from memory and verifies it.
    pub fn mnn_interpreter_create_from_memory(
        data: *const c_void,
        size: usize,
        options: *const mnn_interpreter_options_t,
        out: *mut *mut mnn_interpreter_t,
    ) -> mnn_status;
    /// Fills the struct with defaults.
    pub fn mnn_operator_init(op: *mut mnn_operator_t, struct_size: usize) -> mnn_status;
    /// Registers an operator for the sessions of an interpreter.
    pub fn mnn_interpreter_add_operator(
        interpreter: *mut mnn_interpreter_t,
        op: *const mnn_operator_t,
    ) -> mnn_status;
    /// Finds an attribute of a node.
    pub fn mnn_node_attribute(
        node: *const mnn_node_t,
        key: *const c_char,
        attribute: *mut *const mnn_attribute_t,
    ) -> mnn_status;
    /// Names a file that keeps what a GPU session prepared (compiled pipelines) for the
    /// next process.
    pub fn mnn_interpreter_set_cache_file(
        interpreter: *mut mnn_interpreter_t,
        path: *const c_char,
    ) -> mnn_status;
    /// The same from memory: bytes of `mnn_session_cache`.
    pub fn mnn_interpreter_set_cache(
        interpreter: *mut mnn_interpreter_t,
        data: *const c_void,
        size: usize,
    ) -> mnn_status;
    /// Writes the cache file again if a session prepared more than it holds (after a
    /// resize, for example).
    pub fn mnn_interpreter_update_cache_file(
        interpreter: *mut mnn_interpreter_t,
        session: *const mnn_session_t,
    ) -> mnn_status;
    /// Destroys an interpreter and sets the handle to NULL.
    pub fn mnn_interpreter_destroy(interpreter: *mut *mut mnn_interpreter_t) -> mnn_status;
    /// The UUID that the converter gave the model, or "" when the file has none.
    pub fn mnn_interpreter_uuid(
        interpreter: *const mnn_interpreter_t,
        uuid: *mut *const c_char,
    ) -> mnn_status;
    /// The converter release that wrote the model.
    pub fn mnn_interpreter_model_version(
        interpreter: *const mnn_interpreter_t,
        version: *mut *const c_char,
    ) -> mnn_status;
    /// The free text given at conversion ("bizCode"), or "".
    pub fn mnn_interpreter_biz_code(
        interpreter: *const mnn_interpreter_t,
        biz_code: *mut *const c_char,
    ) -> mnn_status;
    /// What a model says about itself.
    pub fn mnn_interpreter_info(
        interpreter: *const mnn_interpreter_t,
        info: *mut mnn_model_properties_t,
    ) -> mnn_status;
    /// Describes an input as the model declares it.
    pub fn mnn_interpreter_input_info(
        interpreter: *const mnn_interpreter_t,
        index: usize,
        info: *mut mnn_declaration_t,
    ) -> mnn_status;
    /// Describes an output as far as it follows from the declared inputs.
    pub fn mnn_interpreter_output_info(
        interpreter: *const mnn_interpreter_t,
        index: usize,
        info: *mut mnn_declaration_t,
    ) -> mnn_status;
    /// A pair of texts that was given to the converter with the model.
    pub fn mnn_interpreter_metadata(
        interpreter: *const mnn_interpreter_t,
        index: usize,
        key: *mut *const c_char,
        value: *mut *const c_char,
    ) -> mnn_status;
    /// Puts the constants that a session wrote into the interpreter.
    pub fn mnn_interpreter_update_constants(
        interpreter: *mut mnn_interpreter_t,
        session: *const mnn_session_t,
    ) -> mnn_status;
    /// Describes the model as text: `graph`.
    pub fn mnn_interpreter_report(
        interpreter: *const mnn_interpreter_t,
        what: *const c_char,
        buffer: *mut c_char,
        capacity: usize,
        needed: *mut usize,
    ) -> mnn_status;
    /// Copies the bytes of the model, with the constants that were updated.
    pub fn mnn_interpreter_model_bytes(
        interpreter: *mut mnn_interpreter_t,
        buffer: *mut c_void,
        capacity: usize,
        needed: *mut usize,
    ) -> mnn_status;
    /// Writes these bytes to a file.
    pub fn mnn_interpreter_save(interpreter: *mut mnn_interpreter_t, path: *const c_char) -> mnn_status;
    /// Gives the bytes of the model back; sessions go on.
    pub fn mnn_interpreter_release_model(interpreter: *mut mnn_interpreter_t) -> mnn_status;
    /// How many inputs the model has.
    pub fn mnn_interpreter_input_count(
        interpreter: *const mnn_interpreter_t,
        count: *mut usize,
    ) -> mnn_status;
    /// The name of an input.
    pub fn mnn_interpreter_input_name(
        interpreter: *const mnn_interpreter_t,
        index: usize,
        name: *mut *const c_char,
    ) -> mnn_status;
    /// The shape that the model declares for an input.
    pub fn mnn_interpreter_input_shape(
        interpreter: *const mnn_interpreter_t,
        index: usize,
        dims: *mut i32,
        capacity: usize,
        rank: *mut usize,
    ) -> mnn_status;
    /// The element type of an input as a session shows it.
    pub fn mnn_interpreter_input_type(
        interpreter: *const mnn_interpreter_t,
        index: usize,
        element_type: *mut i32,
    ) -> mnn_status;
    /// The dimension format that the model declares for an input.
    pub fn mnn_interpreter_input_format(
        interpreter: *const mnn_interpreter_t,
        index: usize,
        format: *mut i32,
    ) -> mnn_status;
    /// How many outputs the model has: those that it names, else every tensor that nothing
    /// reads.
    pub fn mnn_interpreter_output_count(
        interpreter: *const mnn_interpreter_t,
        count: *mut usize,
    ) -> mnn_status;
    /// The name of an output.
    pub fn mnn_interpreter_output_name(
        interpreter: *const mnn_interpreter_t,
        index: usize,
        name: *mut *const c_char,
    ) -> mnn_status;
    /// How many operators the file has: the main graph's, then those of each subgraph, in
    /// file order.
    pub fn mnn_interpreter_op_count(interpreter: *const mnn_interpreter_t, count: *mut usize) -> mnn_status;
    /// The name of an operator; "" when the file has none.
    pub fn mnn_interpreter_op_name(
        interpreter: *const mnn_interpreter_t,
        index: usize,
        name: *mut *const c_char,
    ) -> mnn_status;
    /// The type of an operator.
    pub fn mnn_interpreter_op_type(
        interpreter: *const mnn_interpreter_t,
        index: usize,
        type_name: *mut *const c_char,
    ) -> mnn_status;
    /// Whether this library implements an operator's type.
    pub fn mnn_interpreter_op_supported(
        interpreter: *const mnn_interpreter_t,
        index: usize,
        supported: *mut bool,
    ) -> mnn_status;
    /// How many tensors an operator makes.
    pub fn mnn_interpreter_op_output_count(
        interpreter: *const mnn_interpreter_t,
        index: usize,
        count: *mut usize,
    ) -> mnn_status;
    /// The name of a tensor that an operator makes: what `outputs` and `save_tensors` of a
    /// configuration take.
    pub fn mnn_interpreter_op_output_name(
        interpreter: *const mnn_interpreter_t,
        index: usize,
        output: usize,
        name: *mut *const c_char,
    ) -> mnn_status;
    /// How many weights the model holds: elements of every weight, bias and constant,
    /// external ones too.
    pub fn mnn_interpreter_parameter_count(
        interpreter: *const mnn_interpreter_t,
        count: *mut u64,
    ) -> mnn_status;
}
