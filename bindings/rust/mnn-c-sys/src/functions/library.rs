//! The library: versions, errors, backends, devices, cancellation.

use crate::properties::*;
use crate::types::*;
use std::os::raw::c_char;

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
}
