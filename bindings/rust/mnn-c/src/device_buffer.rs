//! Inputs and outputs in buffers of a device.

use crate::call::check;
use crate::codes::BufferKind;
use crate::error::Result;
use crate::session::Session;
use crate::tensor::Tensor;
use mnn_c_sys as sys;
use std::mem::size_of;

/// A buffer of the device that a session runs on, or a part of one, for
/// [`Session::bind_input_buffer`]: the elements of a tensor, row-major in the order of its format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceBuffer {
    /// The kind, which says which of the other fields are used.
    pub kind: BufferKind,
    /// The session makes a buffer of that kind, and the other fields are not read.
    pub allocate: bool,
    /// With [`BufferKind::Vulkan`], the `VkBuffer`.
    pub buffer: u64,
    /// Bytes before the first element, in the buffer or, with a file descriptor, in its memory.
    pub offset: u64,
    /// Usable bytes from the offset on: at least those of the tensor.
    pub bytes: u64,
    /// With [`BufferKind::OpaqueFd`], the `allocationSize` of the memory.
    pub memory_bytes: u64,
    /// With [`BufferKind::OpaqueFd`], the `memoryTypeIndex` with which the memory was allocated.
    pub memory_type: u32,
    /// With [`BufferKind::OpaqueFd`], the descriptor. A call that binds it leaves it to the caller;
    /// [`Tensor::device_buffer`] returns a new one, which the caller closes.
    pub fd: i32,
    /// Set by [`Tensor::device_buffer`] only: the `VkDeviceMemory`; 0 where it is not known.
    pub memory: u64,
    /// Set by [`Tensor::device_buffer`] only: bytes before the first element in that memory.
    pub memory_offset: u64,
}

impl DeviceBuffer {
    const fn new(kind: BufferKind) -> Self {
        DeviceBuffer {
            kind,
            allocate: false,
            buffer: 0,
            offset: 0,
            bytes: 0,
            memory_bytes: 0,
            memory_type: 0,
            fd: -1,
            memory: 0,
            memory_offset: 0,
        }
    }

    /// A part of a `VkBuffer`.
    pub const fn vulkan(buffer: u64, offset: u64, bytes: u64) -> Self {
        DeviceBuffer {
            buffer,
            offset,
            bytes,
            ..Self::new(BufferKind::Vulkan)
        }
    }

    /// A buffer that the session makes.
    pub const fn to_make(kind: BufferKind) -> Self {
        DeviceBuffer {
            allocate: true,
            ..Self::new(kind)
        }
    }

    fn to_c(self) -> sys::mnn_device_buffer_t {
        sys::mnn_device_buffer_t {
            struct_size: size_of::<sys::mnn_device_buffer_t>(),
            kind: self.kind.code(),
            allocate: self.allocate.into(),
            buffer: self.buffer,
            offset: self.offset,
            bytes: self.bytes,
            memory_bytes: self.memory_bytes,
            memory_type: self.memory_type,
            fd: self.fd,
            memory: 0,
            memory_offset: 0,
        }
    }
}

impl Session {
    /// Binds an input to a buffer of the session's device, so that its contents do not pass through the host. `None`
    /// releases it, as does any other binding of the input. `mnn_c.h` has the rules ("Buffers of a device"): commands
    /// submitted to the session's queue before a run are complete when it reads the buffer. Fails with
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) on the CPU and for a buffer that the device cannot
    /// share.
    ///
    /// # Safety
    /// A `VkBuffer` is one of the session's `VkDevice`, with memory and the usages that `mnn_c.h` names; it lives as
    /// long as the binding lasts. The numbers of a file descriptor are those of its memory.
    pub unsafe fn bind_input_buffer(&mut self, name: &str, buffer: Option<&DeviceBuffer>) -> Result<()> {
        let handle = self.input_handle(name)?;
        let buffer = buffer.map(|buffer| buffer.to_c());
        let pointer = buffer
            .as_ref()
            .map_or(std::ptr::null(), |buffer| buffer as *const _);
        // SAFETY: the session is borrowed exclusively; the caller promises the rest.
        let status =
            unsafe { sys::mnn_session_bind_input_buffer(self.as_ptr_mut(), handle.as_ptr(), pointer) };
        self.rebound(handle, status, None).map(drop)
    }

    /// Binds an output to a buffer of the session's device, under the rules of
    /// [`bind_input_buffer`](Self::bind_input_buffer). Commands submitted to the session's queue after a run see its
    /// results.
    ///
    /// # Safety
    /// The conditions are those of [`bind_input_buffer`](Self::bind_input_buffer). Nothing else uses that part of the
    /// buffer during a run.
    pub unsafe fn bind_output_buffer(&mut self, name: &str, buffer: Option<&DeviceBuffer>) -> Result<()> {
        let handle = self.output_handle(name)?;
        let buffer = buffer.map(|buffer| buffer.to_c());
        let pointer = buffer
            .as_ref()
            .map_or(std::ptr::null(), |buffer| buffer as *const _);
        // SAFETY: the session is borrowed exclusively; the caller promises the rest.
        let status =
            unsafe { sys::mnn_session_bind_output_buffer(self.as_ptr_mut(), handle.as_ptr(), pointer) };
        self.rebound(handle, status, None).map(drop)
    }
}

impl Tensor<'_> {
    /// Returns the place of the tensor on the device: the buffer that it is bound to or, for an output that is not
    /// bound, the session's buffer with its contents after a run, until the next resize, trim or binding. Fails with
    /// [`ErrorKind::BadState`](crate::ErrorKind::BadState) where the tensor is in the host's memory, and with
    /// [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) like
    /// [`bind_input_buffer`](Session::bind_input_buffer).
    pub fn device_buffer(&self, kind: BufferKind) -> Result<DeviceBuffer> {
        let mut found = DeviceBuffer::new(kind).to_c();
        // SAFETY: the struct holds its size.
        check(unsafe { sys::mnn_tensor_device_buffer(self.as_ptr(), &mut found) })?;
        Ok(DeviceBuffer {
            kind,
            allocate: false,
            buffer: found.buffer,
            offset: found.offset,
            bytes: found.bytes,
            memory_bytes: found.memory_bytes,
            memory_type: found.memory_type,
            fd: found.fd,
            memory: found.memory,
            memory_offset: found.memory_offset,
        })
    }
}
