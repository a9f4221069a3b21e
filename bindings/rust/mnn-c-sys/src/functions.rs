//! Every function of the header, with the first sentence of its comment.
//!
//! The rest of the comment is part of the contract.

use crate::properties::*;
use crate::types::*;
use std::os::raw::{c_char, c_void};

extern "C" {
    /// The version of the library, "major.minor.patch".
    pub fn mnn_version() -> *const c_char;
    /// The version of the library as numbers.
    pub fn mnn_version_numbers(major: *mut i32, minor: *mut i32, patch: *mut i32) -> mnn_status;
    /// The version of the binary interface, major * 65536 + minor.
    pub fn mnn_abi_version() -> u32;
    /// The name of a status as the header spells it.
    pub fn mnn_status_name(status: mnn_status) -> *const c_char;
    /// The sentence about the last call on this thread that did not return `MNN_OK`.
    pub fn mnn_last_error() -> *const c_char;
    /// Copies the sentence of `mnn_last_error`. A failure leaves that sentence as it is.
    pub fn mnn_last_error_copy(buffer: *mut c_char, capacity: usize, needed: *mut usize) -> mnn_status;
    /// How many backends are compiled in (not: have a device).
    pub fn mnn_backend_count(count: *mut usize) -> mnn_status;
    /// The name of a compiled-in backend.
    pub fn mnn_backend_name(index: usize, name: *mut *const c_char) -> mnn_status;
    /// The forward type (`MNN_FORWARD_*`) of a compiled-in backend.
    pub fn mnn_backend_forward_type(index: usize, forward_type: *mut i32) -> mnn_status;
    /// How many devices of a backend there are on this machine.
    pub fn mnn_device_count(forward_type: i32, count: *mut usize) -> mnn_status;
    /// Describes a device.
    pub fn mnn_device_info(
        forward_type: i32,
        index: usize,
        properties: *mut mnn_device_properties_t,
    ) -> mnn_status;
    /// Describes the processor.
    pub fn mnn_cpu_info(properties: *mut mnn_cpu_properties_t) -> mnn_status;
    /// Measures the costs with which the library chooses between algorithms on this CPU.
    pub fn mnn_cpu_calibrate(
        cpu_isa: *const c_char,
        cancel: *mut mnn_cancel_t,
        buffer: *mut c_char,
        capacity: usize,
        needed: *mut usize,
    ) -> mnn_status;
    /// Makes a token that is not triggered.
    pub fn mnn_cancel_create(out: *mut *mut mnn_cancel_t) -> mnn_status;
    /// Triggers a token.
    pub fn mnn_cancel_trigger(cancel: *mut mnn_cancel_t) -> mnn_status;
    /// Takes a trigger back, for calls that begin afterwards: those under way end all the
    /// same.
    pub fn mnn_cancel_reset(cancel: *mut mnn_cancel_t) -> mnn_status;
    /// Destroys a token and sets the handle to NULL.
    pub fn mnn_cancel_destroy(cancel: *mut *mut mnn_cancel_t) -> mnn_status;
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
    /// Fills the struct with zeros.
    pub fn mnn_backend_init(backend: *mut mnn_backend_t, struct_size: usize) -> mnn_status;
    /// Adds a backend of the host's own to a runtime.
    pub fn mnn_runtime_add_backend(
        runtime: *mut mnn_runtime_t,
        backend: *const mnn_backend_t,
        forward_type: *mut i32,
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
    /// Fills the struct with zeros.
    pub fn mnn_vulkan_objects_init(objects: *mut mnn_vulkan_objects_t, struct_size: usize) -> mnn_status;
    /// Fills the configuration with defaults: one thread, which is the caller's.
    pub fn mnn_runtime_config_init(config: *mut mnn_runtime_config_t, struct_size: usize) -> mnn_status;
    /// Makes a runtime.
    pub fn mnn_runtime_create(
        config: *const mnn_runtime_config_t,
        out: *mut *mut mnn_runtime_t,
    ) -> mnn_status;
    /// Destroys a runtime and sets the handle to NULL.
    pub fn mnn_runtime_destroy(runtime: *mut *mut mnn_runtime_t) -> mnn_status;
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
    /// The name of a tensor.
    pub fn mnn_tensor_name(tensor: *const mnn_tensor_t, name: *mut *const c_char) -> mnn_status;
    /// The present shape of a tensor.
    pub fn mnn_tensor_shape(
        tensor: *const mnn_tensor_t,
        dims: *mut i32,
        capacity: usize,
        rank: *mut usize,
    ) -> mnn_status;
    /// The element type of a tensor.
    pub fn mnn_tensor_type(tensor: *const mnn_tensor_t, element_type: *mut i32) -> mnn_status;
    /// The dimension format of a tensor: `MNN_FORMAT_NHWC` when its shape is in NHWC order,
    /// else `MNN_FORMAT_NCHW` or `MNN_FORMAT_NC4HW4`, whose shapes are in NCHW order.
    pub fn mnn_tensor_format(tensor: *const mnn_tensor_t, format: *mut i32) -> mnn_status;
    /// The extents of a tensor of four dimensions by their meaning.
    pub fn mnn_tensor_nchw(tensor: *const mnn_tensor_t, nchw: *mut i32) -> mnn_status;
    /// Where a tensor lies, and how.
    pub fn mnn_tensor_info(tensor: *const mnn_tensor_t, info: *mut mnn_tensor_properties_t) -> mnn_status;
    /// Where the device has a tensor.
    pub fn mnn_tensor_device_buffer(
        tensor: *const mnn_tensor_t,
        buffer: *mut mnn_device_buffer_t,
    ) -> mnn_status;
    /// Prints a tensor as text.
    pub fn mnn_tensor_print(
        tensor: *const mnn_tensor_t,
        edge: usize,
        buffer: *mut c_char,
        capacity: usize,
        needed: *mut usize,
    ) -> mnn_status;
    /// The number of elements of a tensor, without any padding: the product of its extents.
    pub fn mnn_tensor_element_count(tensor: *const mnn_tensor_t, count: *mut usize) -> mnn_status;
    /// The bytes of a host buffer that holds a tensor in a format.
    pub fn mnn_tensor_byte_size(tensor: *const mnn_tensor_t, format: i32, bytes: *mut usize) -> mnn_status;
    /// Copies data from the host into an input and converts the layout.
    pub fn mnn_tensor_write(
        tensor: *mut mnn_tensor_t,
        data: *const c_void,
        bytes: usize,
        format: i32,
    ) -> mnn_status;
    /// `mnn_tensor_write` with elements of another type, which are converted to the tensor's.
    pub fn mnn_tensor_write_as(
        tensor: *mut mnn_tensor_t,
        data: *const c_void,
        bytes: usize,
        element_type: i32,
        format: i32,
    ) -> mnn_status;
    /// Gives access to a tensor's elements in place, row-major in the order of its own
    /// format (NHWC for `MNN_FORMAT_NHWC`, NCHW for the others).
    pub fn mnn_tensor_map(tensor: *mut mnn_tensor_t, access: i32, data: *mut *mut c_void) -> mnn_status;
    /// Ends `mnn_tensor_map`: what was written takes effect.
    pub fn mnn_tensor_unmap(tensor: *mut mnn_tensor_t) -> mnn_status;
    /// Copies a tensor to the host and converts the layout.
    pub fn mnn_tensor_read(
        tensor: *const mnn_tensor_t,
        buffer: *mut c_void,
        bytes: usize,
        format: i32,
    ) -> mnn_status;
    /// `mnn_tensor_read` with elements of another type, to which the tensor's are converted.
    pub fn mnn_tensor_read_as(
        tensor: *const mnn_tensor_t,
        buffer: *mut c_void,
        bytes: usize,
        element_type: i32,
        format: i32,
    ) -> mnn_status;
}
