//! Tensors: what they are, and their contents.

use crate::config::*;
use crate::properties::*;
use crate::types::*;
use std::os::raw::{c_char, c_void};

extern "C" {
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
