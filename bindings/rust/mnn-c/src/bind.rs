//! Inputs and outputs in buffers of the caller.

use crate::call::outcome;
use crate::codes::Format;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use crate::panics;
use crate::session::{Buffer, Session};
use crate::tensor::Tensor;
use mnn_c_sys as sys;
use std::ptr::{null, null_mut, NonNull};

type Handle = NonNull<sys::mnn_tensor_t>;

impl Session {
    /// Binds an input to a buffer, which the session keeps: runs read it in place where its layout is the tensor's own,
    /// and copy it once otherwise. [`bound_input_mut`](Self::bound_input_mut) gives access to it between runs.
    ///
    /// The binding lasts until another one replaces it, [`release_input`](Self::release_input) ends it, or a resize
    /// changes the size of the tensor: then runs fail with [`ErrorKind::BadState`] until the input is bound anew or
    /// released. Fails with [`ErrorKind::InputData`] when the number of elements is not the tensor's; the buffer is
    /// dropped then, and an earlier binding stays.
    ///
    /// ```
    /// # use mnn_c::{Format, Interpreter, ScheduleConfig};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/digits/digits.mnn");
    /// # let net = Interpreter::from_file(path)?;
    /// let mut session = net.create_session(&ScheduleConfig::new())?;
    /// session.bind_input("image", vec![0.5f32; 64], Format::Nchw)?;
    /// session.bind_output("scores", vec![0f32; 10], Format::Nchw)?;
    /// for shade in 0..3 {
    ///     session.bound_input_mut::<f32>("image")?.fill(shade as f32 / 2.0);
    ///     session.run()?;
    ///     assert!(session.bound_output::<f32>("scores")?.iter().all(|score| score.is_finite()));
    /// }
    /// # Ok::<(), mnn_c::Error>(())
    /// ```
    pub fn bind_input<T: Element>(&mut self, name: &str, buffer: Vec<T>, format: Format) -> Result<()> {
        let data = buffer.as_ptr();
        let count = buffer.len();
        // SAFETY: the session keeps the buffer, which stays where it is, as long as the binding lasts.
        unsafe { self.bind_input_to(name, data, count, format, Some(Box::new(buffer))) }
    }

    /// Binds an output to a buffer, which the session keeps and runs fill, like [`bind_input`](Self::bind_input). The
    /// buffer may be larger than the tensor. Fails with [`ErrorKind::BufferTooSmall`] when it is smaller; where the
    /// size depends on contents, the run fails.
    pub fn bind_output<T: Element>(&mut self, name: &str, mut buffer: Vec<T>, format: Format) -> Result<()> {
        let data = buffer.as_mut_ptr();
        let count = buffer.len();
        // SAFETY: as above; every pattern of bits is a value of its type.
        unsafe { self.bind_output_to(name, data, count, format, Some(Box::new(buffer))) }
    }

    /// [`bind_input`](Self::bind_input) for memory that belongs to something else, e.g. a mapped file or a frame of a
    /// camera.
    ///
    /// # Safety
    /// `count` elements at `data`, any alignment, live and are not written during a run, as long as the binding lasts.
    pub unsafe fn bind_input_raw<T: Element>(
        &mut self,
        name: &str,
        data: *const T,
        count: usize,
        format: Format,
    ) -> Result<()> {
        // SAFETY: the caller keeps the promise of this function.
        unsafe { self.bind_input_to(name, data, count, format, None) }
    }

    /// [`bind_output`](Self::bind_output) for memory that belongs to something else.
    ///
    /// # Safety
    /// `count` elements at `data`, any alignment, live as long as the binding lasts, and nothing else uses them during
    /// a run.
    pub unsafe fn bind_output_raw<T: Element>(
        &mut self,
        name: &str,
        data: *mut T,
        count: usize,
        format: Format,
    ) -> Result<()> {
        // SAFETY: the caller keeps the promise of this function.
        unsafe { self.bind_output_to(name, data, count, format, None) }
    }

    /// The buffer of an input. Fails with [`ErrorKind::BadState`] when the input has none, and with
    /// [`ErrorKind::BadType`] when its elements are of another type.
    pub fn bound_input_mut<T: Element>(&mut self, name: &str) -> Result<&mut [T]> {
        self.require_idle()?;
        let handle = self.input_handle(name)?;
        match self.bound.get_mut(&(handle.as_ptr() as usize)) {
            Some(buffer) => buffer
                .downcast_mut::<Vec<T>>()
                .map(Vec::as_mut_slice)
                .ok_or_else(|| other_type(name)),
            None => Err(unbound(name)),
        }
    }

    /// The buffer of an output. Fails as [`bound_input_mut`](Self::bound_input_mut) does.
    pub fn bound_output<T: Element>(&self, name: &str) -> Result<&[T]> {
        self.require_idle()?;
        let handle = self.output_handle(name)?;
        match self.bound.get(&(handle.as_ptr() as usize)) {
            Some(buffer) => buffer
                .downcast_ref::<Vec<T>>()
                .map(Vec::as_slice)
                .ok_or_else(|| other_type(name)),
            None => Err(unbound(name)),
        }
    }

    /// Ends the binding of an input, which then lies in the session's memory, with undefined contents. Returns its
    /// buffer; `None` when it had none. Fails with [`ErrorKind::BadType`], and changes nothing, when the buffer's
    /// elements are of another type.
    pub fn release_input<T: Element>(&mut self, name: &str) -> Result<Option<Vec<T>>> {
        let handle = self.input_handle(name)?;
        self.require_buffer::<T>(name, handle)?;
        let (session, format) = (self.as_ptr_mut(), sys::MNN_FORMAT_NCHW);
        // SAFETY: the session is borrowed exclusively; NULL releases.
        let status = unsafe { sys::mnn_session_bind_input(session, handle.as_ptr(), null(), 0, format) };
        Ok(self.rebound(handle, status, None)?.and_then(elements))
    }

    /// Ends the binding of an output, which has no values then until the next run. Returns and fails as
    /// [`release_input`](Self::release_input) does.
    pub fn release_output<T: Element>(&mut self, name: &str) -> Result<Option<Vec<T>>> {
        let handle = self.output_handle(name)?;
        self.require_buffer::<T>(name, handle)?;
        let (session, format) = (self.as_ptr_mut(), sys::MNN_FORMAT_NCHW);
        // SAFETY: the session is borrowed exclusively; NULL releases.
        let status = unsafe { sys::mnn_session_bind_output(session, handle.as_ptr(), null_mut(), 0, format) };
        Ok(self.rebound(handle, status, None)?.and_then(elements))
    }

    /// # Safety
    /// `count` elements at `data` may be used in the way of [`bind_input_raw`](Self::bind_input_raw) as long as the binding
    /// lasts, because the buffer has them or the caller promises it.
    unsafe fn bind_input_to<T: Element>(
        &mut self,
        name: &str,
        data: *const T,
        count: usize,
        format: Format,
        buffer: Option<Buffer>,
    ) -> Result<()> {
        let handle = self.input_handle(name)?;
        self.require_type::<T>(handle)?;
        let (session, bytes) = (self.as_ptr_mut(), byte_size::<T>(count)?);
        // SAFETY: the session is borrowed exclusively; the caller promises the rest.
        let status = unsafe {
            sys::mnn_session_bind_input(session, handle.as_ptr(), data.cast(), bytes, format.code())
        };
        self.rebound(handle, status, buffer).map(drop)
    }

    /// # Safety
    /// `count` elements at `data` may be used in the way of [`bind_output_raw`](Self::bind_output_raw) as long as the binding
    /// lasts, because the buffer has them or the caller promises it.
    unsafe fn bind_output_to<T: Element>(
        &mut self,
        name: &str,
        data: *mut T,
        count: usize,
        format: Format,
        buffer: Option<Buffer>,
    ) -> Result<()> {
        let handle = self.output_handle(name)?;
        self.require_type::<T>(handle)?;
        let (session, bytes) = (self.as_ptr_mut(), byte_size::<T>(count)?);
        // SAFETY: the session is borrowed exclusively; the caller promises the rest.
        let status = unsafe {
            sys::mnn_session_bind_output(session, handle.as_ptr(), data.cast(), bytes, format.code())
        };
        self.rebound(handle, status, buffer).map(drop)
    }

    /// Keeps the buffer that a tensor is bound to now, and only then continues a panic of a closure during the call.
    /// Returns the former buffer.
    pub(crate) fn rebound(
        &mut self,
        handle: Handle,
        status: sys::mnn_status,
        buffer: Option<Buffer>,
    ) -> Result<Option<Buffer>> {
        let key = handle.as_ptr() as usize;
        let result = outcome(status).map(|()| match buffer {
            Some(buffer) => self.bound.insert(key, buffer),
            None => self.bound.remove(&key),
        });
        panics::resume();
        result
    }

    /// Fails after a submitted run whose `Pending` was forgotten, because only the library knows when that run ends.
    fn require_idle(&self) -> Result<()> {
        if !self.submitted {
            return Ok(());
        }
        let message = "the buffers of a session cannot be used before its submitted run was waited for";
        Err(Error::new(ErrorKind::Busy, message))
    }

    fn require_buffer<T: Element>(&self, name: &str, handle: Handle) -> Result<()> {
        match self.bound.get(&(handle.as_ptr() as usize)) {
            Some(buffer) if !buffer.is::<Vec<T>>() => Err(other_type(name)),
            _ => Ok(()),
        }
    }

    /// Checks the type of the elements where it is known. The type of an output may be known only after a run.
    fn require_type<T: Element>(&self, handle: Handle) -> Result<()> {
        // SAFETY: the tensor belongs to the session, which is borrowed.
        let tensor = unsafe { Tensor::new(handle) };
        match tensor.require_type::<T>() {
            Err(error) if error.kind() == ErrorKind::BadState && !self.needs_resize()? => Ok(()),
            result => result,
        }
    }
}

fn byte_size<T>(count: usize) -> Result<usize> {
    count.checked_mul(std::mem::size_of::<T>()).ok_or_else(|| {
        let message = format!("{count} elements take more bytes than there are addresses");
        Error::new(ErrorKind::InvalidValue, message)
    })
}

fn elements<T: Element>(buffer: Buffer) -> Option<Vec<T>> {
    buffer.downcast::<Vec<T>>().ok().map(|buffer| *buffer)
}

fn unbound(name: &str) -> Error {
    let message = format!("tensor '{name}' is bound to no buffer of the session");
    Error::new(ErrorKind::BadState, message)
}

fn other_type(name: &str) -> Error {
    let message = format!("the buffer of tensor '{name}' has elements of another type");
    Error::new(ErrorKind::BadType, message)
}
