//! A model ready to run.

use crate::call::{c_string, check, get, get_pointer, get_text};
use crate::error::Result;
use crate::panics;
use crate::tensor::{Tensor, TensorMut};
use mnn_c_sys as sys;
use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::Arc;

/// The owner of the bytes that an interpreter and its sessions borrow.
pub(crate) type Owner = Option<Arc<dyn Any + Send + Sync>>;

/// A `Vec` that a tensor is bound to.
pub(crate) type Buffer = Box<dyn Any + Send + Sync>;

/// The buffers by the handles of their tensors.
pub(crate) type Buffers = HashMap<usize, Buffer>;

/// A model prepared for one configuration and one set of input shapes.
///
/// Sessions, also of one interpreter, run at the same time, each on a thread of its own:
///
/// ```
/// use mnn_c::{Format, Interpreter, ScheduleConfig};
///
/// # fn main() -> mnn_c::Result<()> {
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/digits/digits.mnn");
/// let net = Interpreter::from_file(path)?;
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| -> mnn_c::Result<()> {
///             let mut session = net.create_session(&ScheduleConfig::new())?;
///             session.input_at_mut(0)?.write(&[0f32; 64], Format::Nchw)?;
///             session.run()
///         });
///     }
/// });
/// # Ok(())
/// # }
/// ```
///
/// A tensor borrows its session, so that it is not read while the session runs:
///
/// ```compile_fail,E0502
/// # fn wrong(mut session: mnn_c::Session) -> mnn_c::Result<()> {
/// let scores = session.output("scores")?;
/// session.run()?;
/// scores.shape()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Session {
    handle: NonNull<sys::mnn_session_t>,
    // The bytes are freed after the handle is destroyed, because fields are dropped after `drop` returned.
    owner: Owner,
    pub(crate) bound: Buffers,
    // A run was submitted, and no call has waited for it, because its `Pending` was forgotten.
    pub(crate) submitted: bool,
    // A run may call closures, operators or backends of the host.
    pub(crate) calls_host: bool,
}

// SAFETY: every function may be called from any thread at any time; one that must not run beside another call fails.
unsafe impl Send for Session {}
// SAFETY: as above. Functions that change the session take `&mut Session`, which the borrows of its strings and mapped
// elements exclude.
unsafe impl Sync for Session {}

impl Drop for Session {
    fn drop(&mut self) {
        let mut handle = self.handle.as_ptr();
        if self.submitted {
            // SAFETY: the handle is live.
            unsafe { sys::mnn_session_wait(handle, -1) };
        }
        // SAFETY: the handle is not used any more.
        if unsafe { sys::mnn_session_destroy(&mut handle) } != sys::MNN_OK {
            // A call uses the session still, e.g. a submitted run whose own thread drops it: the session and the bytes
            // that it borrows are leaked, instead of used after they are freed.
            std::mem::forget(self.owner.take());
            std::mem::forget(std::mem::take(&mut self.bound));
        }
        panics::resume();
    }
}

impl Session {
    /// Takes over a new handle; `None` for NULL.
    ///
    /// # Safety
    /// The handle belongs to this object alone, and the owner keeps the bytes that it borrows.
    pub(crate) unsafe fn from_handle(
        handle: *mut sys::mnn_session_t,
        owner: Owner,
        calls_host: bool,
    ) -> Option<Self> {
        NonNull::new(handle).map(|handle| Self {
            handle,
            owner,
            bound: Buffers::new(),
            submitted: false,
            calls_host,
        })
    }

    /// How many inputs there are.
    pub fn input_count(&self) -> Result<usize> {
        // SAFETY: the out-pointer points to a value.
        get(|count| unsafe { sys::mnn_session_input_count(self.as_ptr(), count) })
    }

    /// How many outputs there are.
    pub fn output_count(&self) -> Result<usize> {
        // SAFETY: the out-pointer points to a value.
        get(|count| unsafe { sys::mnn_session_output_count(self.as_ptr(), count) })
    }

    /// An input, to be read.
    pub fn input(&self, name: &str) -> Result<Tensor<'_>> {
        // SAFETY: the tensor lives as long as the session, which is borrowed.
        self.input_handle(name)
            .map(|handle| unsafe { Tensor::new(handle) })
    }

    /// An input by index, to be read.
    pub fn input_at(&self, index: usize) -> Result<Tensor<'_>> {
        // SAFETY: the tensor lives as long as the session, which is borrowed.
        self.input_handle_at(index)
            .map(|handle| unsafe { Tensor::new(handle) })
    }

    /// An input, to write, map and resize.
    pub fn input_mut(&mut self, name: &str) -> Result<TensorMut<'_>> {
        let handle = self.input_handle(name)?;
        // SAFETY: the tensor lives as long as the session, which is borrowed exclusively.
        Ok(unsafe { TensorMut::new(handle, self.handle) })
    }

    /// An input by index, to write, map and resize.
    pub fn input_at_mut(&mut self, index: usize) -> Result<TensorMut<'_>> {
        let handle = self.input_handle_at(index)?;
        // SAFETY: the tensor lives as long as the session, which is borrowed exclusively.
        Ok(unsafe { TensorMut::new(handle, self.handle) })
    }

    /// An output, to be read.
    pub fn output(&self, name: &str) -> Result<Tensor<'_>> {
        // SAFETY: the tensor lives as long as the session, which is borrowed.
        self.output_handle(name)
            .map(|handle| unsafe { Tensor::new(handle) })
    }

    /// An output by index, to be read.
    pub fn output_at(&self, index: usize) -> Result<Tensor<'_>> {
        // SAFETY: the tensor lives as long as the session, which is borrowed.
        self.output_handle_at(index)
            .map(|handle| unsafe { Tensor::new(handle) })
    }

    /// An output, to map.
    pub fn output_mut(&mut self, name: &str) -> Result<TensorMut<'_>> {
        let handle = self.output_handle(name)?;
        // SAFETY: the tensor lives as long as the session, which is borrowed exclusively.
        Ok(unsafe { TensorMut::new(handle, self.handle) })
    }

    /// An output by index, to map.
    pub fn output_at_mut(&mut self, index: usize) -> Result<TensorMut<'_>> {
        let handle = self.output_handle_at(index)?;
        // SAFETY: the tensor lives as long as the session, which is borrowed exclusively.
        Ok(unsafe { TensorMut::new(handle, self.handle) })
    }

    /// Whether the session is not planned for the shapes of its inputs, so that [`resize`](Self::resize) must precede a
    /// run.
    pub fn needs_resize(&self) -> Result<bool> {
        // SAFETY: the out-pointer points to a value.
        get(|needed| unsafe { sys::mnn_session_needs_resize(self.as_ptr(), needed) })
    }

    /// Plans the session for the present shapes of its inputs: shapes, memory, kernels. Does nothing when it is already
    /// planned for them. Inputs whose shape changed are zeros afterwards, the others keep their contents. After a
    /// failure it needs a resize still; with its former shapes set again it runs as before.
    ///
    /// ```
    /// # use mnn_c::{Format, Interpreter, ScheduleConfig};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/digits/digits.mnn");
    /// # let net = Interpreter::from_file(path)?;
    /// # let mut session = net.create_session(&ScheduleConfig::new())?;
    /// session.input_mut("image")?.resize(&[3, 1, 8, 8])?;
    /// session.resize()?;
    /// assert_eq!(session.output("scores")?.shape()?, [3, 10]);
    /// # Ok::<(), mnn_c::Error>(())
    /// ```
    pub fn resize(&mut self) -> Result<()> {
        // SAFETY: the session is borrowed exclusively.
        check(unsafe { sys::mnn_session_resize(self.handle.as_ptr()) })
    }

    /// Frees memory: the additional plans that [`ScheduleConfig::plan_cache`](crate::ScheduleConfig::plan_cache) keeps,
    /// with the weights that only they need, and the part of the session's memory that the plan in use does not need.
    /// Inputs and outputs keep their contents.
    pub fn trim(&mut self) -> Result<()> {
        // SAFETY: the session is borrowed exclusively.
        check(unsafe { sys::mnn_session_trim(self.handle.as_ptr()) })
    }

    /// Computes all outputs from the inputs as last written. Inputs keep their contents.
    pub fn run(&mut self) -> Result<()> {
        // SAFETY: the session is borrowed exclusively.
        check(unsafe { sys::mnn_session_run(self.handle.as_ptr()) })
    }

    pub(crate) fn as_ptr(&self) -> *const sys::mnn_session_t {
        self.handle.as_ptr()
    }

    pub(crate) fn as_ptr_mut(&mut self) -> *mut sys::mnn_session_t {
        self.handle.as_ptr()
    }

    /// A constant, to be read and written: the result of a Const or a TrainableParam operator of the main graph.
    /// Written values belong to this session alone, and take effect with the next [`resize`](Self::resize). Where
    /// operators of the net write the constant, it keeps their values between runs, and values written here take effect
    /// with the next run.
    ///
    /// ```
    /// # use mnn_c::{Format, Interpreter, ScheduleConfig};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/digits/digits.mnn");
    /// # let net = Interpreter::from_file(path)?;
    /// # let mut session = net.create_session(&ScheduleConfig::new())?;
    /// let name = session.constant_names()?[0].to_string();
    /// let mut constant = session.constant(&name)?;
    /// let values: Vec<i64> = constant.read_as(Format::Nchw)?;
    /// constant.write_as(&values, Format::Nchw)?;
    /// session.resize()?;
    /// # Ok::<(), mnn_c::Error>(())
    /// ```
    pub fn constant(&mut self, name: &str) -> Result<TensorMut<'_>> {
        let name = c_string(name, "the name of a constant")?;
        let session = self.handle.as_ptr();
        // SAFETY: the name lives during the call; borrowed exclusively.
        let handle = tensor(|out| unsafe { sys::mnn_session_constant(session, name.as_ptr(), out) })?;
        // SAFETY: the tensor lives as long as the session, which is borrowed exclusively.
        Ok(unsafe { TensorMut::new(handle, self.handle) })
    }

    /// The names of the constants, in the order of the file.
    pub fn constant_names(&self) -> Result<Vec<Cow<'_, str>>> {
        // SAFETY: the out-pointer points to a value.
        let count = get(|count| unsafe { sys::mnn_session_constant_count(self.as_ptr(), count) })?;
        (0..count)
            // SAFETY: the strings live as long as the session.
            .map(|index| unsafe {
                get_text(|name| sys::mnn_session_constant_name(self.as_ptr(), index, name))
            })
            .collect()
    }

    pub(crate) fn input_handle(&self, name: &str) -> Result<NonNull<sys::mnn_tensor_t>> {
        let name = c_string(name, "the name of an input")?;
        // SAFETY: the name lives during the call.
        tensor(|out| unsafe { sys::mnn_session_input(self.as_ptr(), name.as_ptr(), out) })
    }

    fn input_handle_at(&self, index: usize) -> Result<NonNull<sys::mnn_tensor_t>> {
        // SAFETY: the out-pointer points to a value.
        tensor(|out| unsafe { sys::mnn_session_input_at(self.as_ptr(), index, out) })
    }

    pub(crate) fn output_handle(&self, name: &str) -> Result<NonNull<sys::mnn_tensor_t>> {
        let name = c_string(name, "the name of an output")?;
        // SAFETY: the name lives during the call.
        tensor(|out| unsafe { sys::mnn_session_output(self.as_ptr(), name.as_ptr(), out) })
    }

    fn output_handle_at(&self, index: usize) -> Result<NonNull<sys::mnn_tensor_t>> {
        // SAFETY: the out-pointer points to a value.
        tensor(|out| unsafe { sys::mnn_session_output_at(self.as_ptr(), index, out) })
    }
}

fn tensor(
    call: impl FnOnce(*mut *mut sys::mnn_tensor_t) -> sys::mnn_status,
) -> Result<NonNull<sys::mnn_tensor_t>> {
    let (handle, result) = get_pointer(call);
    result?;
    Ok(NonNull::new(handle).expect("a handle comes with MNN_OK"))
}
