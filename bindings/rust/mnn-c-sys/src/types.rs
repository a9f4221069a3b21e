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
handle!(
    /// What sessions share.
    mnn_runtime_t
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
