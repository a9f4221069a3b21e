//! Handles, statuses, devices, and the function types that several structs have.

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
            // Neither Send nor Sync nor Unpin: the wrapper of the handle decides.
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
