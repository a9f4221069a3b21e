//! A model ready to run.

use crate::call::{c_string, check, get, get_pointer, get_report, get_text, optional_text};
use crate::codes::ForwardType;
use crate::error::{ErrorKind, Result};
use crate::panics;
use crate::tensor::{Tensor, TensorMut};
use mnn_c_sys as sys;
use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::mem::{size_of, MaybeUninit};
use std::ptr::{null, null_mut, NonNull};
use std::sync::Arc;

/// The owner of the bytes that an interpreter and its sessions borrow.
pub(crate) type Owner = Option<Arc<dyn Any + Send + Sync>>;

/// A buffer that a tensor is bound to, by the tensor's handle.
pub(crate) type Buffers = HashMap<usize, Box<dyn Any + Send + Sync>>;

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
    // Behind the handle's destruction: fields are dropped after `drop` returned.
    owner: Owner,
    pub(crate) bound: Buffers,
    // A run was submitted, and no call has waited for it: its `Pending` was forgotten.
    pub(crate) submitted: bool,
}

// SAFETY: every function may be called from any thread at any time; what does not fit beside another call fails.
unsafe impl Send for Session {}
// SAFETY: as above. Functions that change the session take `&mut Session`, and what its strings and mapped
// elements borrow excludes them.
unsafe impl Sync for Session {}

impl Drop for Session {
    fn drop(&mut self) {
        let mut handle = self.handle.as_ptr();
        if self.submitted {
            // SAFETY: a live handle.
            unsafe { sys::mnn_session_wait(handle, -1) };
        }
        // SAFETY: the handle is used no more.
        if unsafe { sys::mnn_session_destroy(&mut handle) } != sys::MNN_OK {
            // A call is using the session. Borrowing excludes that; should it happen all the same, the session
            // stays, and with it the bytes that it borrows: a leak instead of a use after free.
            std::mem::forget(self.owner.take());
            std::mem::forget(std::mem::take(&mut self.bound));
        }
        panics::resume();
    }
}

/// The memory that a session holds, in bytes, without the model's own bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionMemory {
    /// Planned memory for what flows between operators: of this session alone.
    pub arena_bytes: u64,
    /// Prepared weights and constants: shared with the interpreter's other sessions.
    pub weight_bytes: u64,
    /// Arena, weights, inputs, outputs and buffers of the operators now.
    pub total_bytes: u64,
    /// The largest `total_bytes` so far.
    pub peak_bytes: u64,
}

/// The work of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Flops {
    /// Floating point operations; a multiply-add is two.
    pub count: f64,
    /// False when operators are left out whose shapes depend on contents not yet known.
    pub complete: bool,
}

/// An operator that a session executes, and where it runs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct OpInfo<'s> {
    /// Its name; empty when it has none.
    pub name: Cow<'s, str>,
    /// Its type, e.g. `Convolution`.
    pub type_name: Cow<'s, str>,
    /// Where it runs, e.g. `cpu`; empty when that is not decided yet, because a run plans it.
    pub backend_name: Cow<'s, str>,
    /// Why the wanted backend did not take it; `None` when it did.
    pub reason: Option<Cow<'s, str>>,
    /// Floating point operations of all its executions in a run; `None` when contents decide that.
    pub flops: Option<f64>,
    /// Whether it is shape arithmetic on small integer tensors.
    pub host_shape: bool,
    /// How it is computed; `None` when there is one way only.
    pub algorithm: Option<Cow<'s, str>>,
    /// In a closure after it, in a run with [`RunOptions::device_times`](crate::RunOptions::device_times): how many
    /// milliseconds it took by the clock of the GPU; `None` when that is not known.
    pub device_ms: Option<f64>,
}

impl<'s> OpInfo<'s> {
    /// # Safety
    /// The strings live for `'s`.
    pub(crate) unsafe fn from_c(info: &sys::mnn_op_info_t) -> Self {
        // SAFETY: as promised.
        unsafe {
            Self {
                name: optional_text(info.name).unwrap_or_default(),
                type_name: optional_text(info.type_name).unwrap_or_default(),
                backend_name: optional_text(info.backend_name).unwrap_or_default(),
                reason: optional_text(info.reason),
                flops: Some(info.flops).filter(|flops| *flops >= 0.0),
                host_shape: info.host_shape != 0,
                algorithm: optional_text(info.algorithm),
                device_ms: Some(info.device_ms).filter(|ms| *ms >= 0.0),
            }
        }
    }
}

impl Session {
    /// Takes over a new handle; `None` for NULL.
    ///
    /// # Safety
    /// The handle belongs to this object alone, and the owner keeps the bytes that it borrows.
    pub(crate) unsafe fn from_handle(handle: *mut sys::mnn_session_t, owner: Owner) -> Option<Self> {
        NonNull::new(handle).map(|handle| Self {
            handle,
            owner,
            bound: Buffers::new(),
            submitted: false,
        })
    }

    /// How many inputs there are.
    pub fn input_count(&self) -> Result<usize> {
        // SAFETY: an out-pointer to a value.
        get(|count| unsafe { sys::mnn_session_input_count(self.as_ptr(), count) })
    }

    /// How many outputs there are.
    pub fn output_count(&self) -> Result<usize> {
        // SAFETY: an out-pointer to a value.
        get(|count| unsafe { sys::mnn_session_output_count(self.as_ptr(), count) })
    }

    /// An input, to ask and to read.
    pub fn input(&self, name: &str) -> Result<Tensor<'_>> {
        // SAFETY: the tensor lives as long as the session, which is borrowed.
        self.input_handle(name)
            .map(|handle| unsafe { Tensor::new(handle) })
    }

    /// An input by index, to ask and to read.
    pub fn input_at(&self, index: usize) -> Result<Tensor<'_>> {
        // SAFETY: the tensor lives as long as the session, which is borrowed.
        self.input_handle_at(index)
            .map(|handle| unsafe { Tensor::new(handle) })
    }

    /// An input, to write, map and resize.
    pub fn input_mut(&mut self, name: &str) -> Result<TensorMut<'_>> {
        let handle = self.input_handle(name)?;
        // SAFETY: the tensor lives as long as the session, which is borrowed alone.
        Ok(unsafe { TensorMut::new(handle, self.handle) })
    }

    /// An input by index, to write, map and resize.
    pub fn input_at_mut(&mut self, index: usize) -> Result<TensorMut<'_>> {
        let handle = self.input_handle_at(index)?;
        // SAFETY: the tensor lives as long as the session, which is borrowed alone.
        Ok(unsafe { TensorMut::new(handle, self.handle) })
    }

    /// An output, to ask and to read.
    pub fn output(&self, name: &str) -> Result<Tensor<'_>> {
        // SAFETY: the tensor lives as long as the session, which is borrowed.
        self.output_handle(name)
            .map(|handle| unsafe { Tensor::new(handle) })
    }

    /// An output by index, to ask and to read.
    pub fn output_at(&self, index: usize) -> Result<Tensor<'_>> {
        // SAFETY: the tensor lives as long as the session, which is borrowed.
        self.output_handle_at(index)
            .map(|handle| unsafe { Tensor::new(handle) })
    }

    /// An output, to map.
    pub fn output_mut(&mut self, name: &str) -> Result<TensorMut<'_>> {
        let handle = self.output_handle(name)?;
        // SAFETY: the tensor lives as long as the session, which is borrowed alone.
        Ok(unsafe { TensorMut::new(handle, self.handle) })
    }

    /// An output by index, to map.
    pub fn output_at_mut(&mut self, index: usize) -> Result<TensorMut<'_>> {
        let handle = self.output_handle_at(index)?;
        // SAFETY: the tensor lives as long as the session, which is borrowed alone.
        Ok(unsafe { TensorMut::new(handle, self.handle) })
    }

    /// Whether the session is not planned for the shapes of its inputs, so that [`resize`](Self::resize) must come
    /// before a run.
    pub fn needs_resize(&self) -> Result<bool> {
        // SAFETY: an out-pointer to a value.
        get(|needed| unsafe { sys::mnn_session_needs_resize(self.as_ptr(), needed) })
    }

    /// Plans the session for the present shapes of its inputs: shapes, memory, kernels. Does nothing when it is
    /// planned for them. Inputs whose shape changed are zeros afterwards, the others keep their contents. After a failure the
    /// session runs again with the shapes that it had.
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
        // SAFETY: borrowed alone.
        check(unsafe { sys::mnn_session_resize(self.handle.as_ptr()) })
    }

    /// Gives memory back: the plans that [`ScheduleConfig::plan_cache`](crate::ScheduleConfig::plan_cache) keeps beside
    /// the one in use, with the weights that only they need, and what the session's memory has more than that plan needs.
    /// Inputs and outputs keep their contents.
    pub fn trim(&mut self) -> Result<()> {
        // SAFETY: borrowed alone.
        check(unsafe { sys::mnn_session_trim(self.handle.as_ptr()) })
    }

    /// Computes all outputs from the inputs as last written. Inputs keep their contents.
    pub fn run(&mut self) -> Result<()> {
        // SAFETY: borrowed alone.
        check(unsafe { sys::mnn_session_run(self.handle.as_ptr()) })
    }

    /// Where the session runs: the backend that was taken.
    pub fn forward_type(&self) -> Result<ForwardType> {
        // SAFETY: an out-pointer to a value; NULL is allowed for the reason.
        get(|code| unsafe { sys::mnn_session_forward_type(self.as_ptr(), code, null_mut()) })
            .map(ForwardType::from_code)
    }

    /// Why the wanted backend was not taken (with [`ForwardType::Auto`]: why none before the one that was); `None`
    /// when it was.
    pub fn fallback_reason(&self) -> Result<Option<Cow<'_, str>>> {
        let (mut code, mut reason) = (0, null());
        // SAFETY: out-pointers to values; the reason is a string of the session.
        unsafe {
            check(sys::mnn_session_forward_type(
                self.as_ptr(),
                &mut code,
                &mut reason,
            ))?;
            Ok(optional_text(reason))
        }
    }

    /// The compiled pipelines of a GPU session, for [`Interpreter::set_cache`](crate::Interpreter::set_cache) of
    /// a later process. Empty on the CPU.
    pub fn cache(&self) -> Result<Vec<u8>> {
        loop {
            let mut size = 0;
            // SAFETY: asks for the size.
            check(unsafe { sys::mnn_session_cache(self.as_ptr(), null_mut(), 0, &mut size) })?;
            let mut bytes = vec![0u8; size];
            let (buffer, capacity) = (bytes.as_mut_ptr().cast(), bytes.len());
            // SAFETY: `capacity` bytes.
            match check(unsafe { sys::mnn_session_cache(self.as_ptr(), buffer, capacity, &mut size) }) {
                Ok(()) => {
                    bytes.truncate(size);
                    return Ok(bytes);
                }
                // Another session of the device prepared more meanwhile.
                Err(error) if error.kind() == ErrorKind::BufferTooSmall => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Describes the session as text for people: `passes`, `plan`, `plan after:NAME` or `algorithms`, whose wording may change
    /// with any version; or as JSON: `graph`. Plans need
    /// [`ScheduleConfig::record_plan`](crate::ScheduleConfig::record_plan).
    pub fn report(&self, what: &str) -> Result<String> {
        // SAFETY: `capacity` bytes at `buffer`.
        unsafe {
            get_report(what, |what, buffer, capacity, size| {
                sys::mnn_session_report(self.as_ptr(), what, buffer, capacity, size)
            })
        }
    }

    /// Whether the session used the cache that it was offered.
    pub fn cache_accepted(&self) -> Result<bool> {
        // SAFETY: an out-pointer to a value.
        get(|accepted| unsafe { sys::mnn_session_cache_accepted(self.as_ptr(), accepted) })
    }

    /// The memory that the session holds.
    pub fn memory(&self) -> Result<SessionMemory> {
        let mut memory = sys::mnn_memory_info_t {
            struct_size: size_of::<sys::mnn_memory_info_t>(),
            arena_bytes: 0,
            weight_bytes: 0,
            total_bytes: 0,
            peak_bytes: 0,
        };
        // SAFETY: the struct holds its size.
        check(unsafe { sys::mnn_session_memory(self.as_ptr(), &mut memory) })?;
        Ok(SessionMemory {
            arena_bytes: memory.arena_bytes,
            weight_bytes: memory.weight_bytes,
            total_bytes: memory.total_bytes,
            peak_bytes: memory.peak_bytes,
        })
    }

    /// The work of one run.
    pub fn flops(&self) -> Result<Flops> {
        let mut complete = false;
        // SAFETY: out-pointers to values.
        let count = get(|flops| unsafe { sys::mnn_session_flops(self.as_ptr(), flops, &mut complete) })?;
        Ok(Flops { count, complete })
    }

    /// How many operators the session executes: after constant folding and fusion, those of control flow's
    /// bodies included.
    pub fn op_count(&self) -> Result<usize> {
        // SAFETY: an out-pointer to a value.
        get(|count| unsafe { sys::mnn_session_op_count(self.as_ptr(), count) })
    }

    /// Where each operator runs and why, in the order of execution.
    pub fn op(&self, index: usize) -> Result<OpInfo<'_>> {
        // SAFETY: numbers and pointers; all zeros are a value.
        let mut info: sys::mnn_op_info_t = unsafe { MaybeUninit::zeroed().assume_init() };
        info.struct_size = size_of::<sys::mnn_op_info_t>();
        // SAFETY: the struct holds its size. The strings live until the next resize or run, which the borrow
        // excludes.
        unsafe {
            check(sys::mnn_session_op_info(self.as_ptr(), index, &mut info))?;
            Ok(OpInfo::from_c(&info))
        }
    }

    pub(crate) fn as_ptr(&self) -> *const sys::mnn_session_t {
        self.handle.as_ptr()
    }

    pub(crate) fn as_ptr_mut(&mut self) -> *mut sys::mnn_session_t {
        self.handle.as_ptr()
    }

    /// A constant, to ask, to read and to write: what a Const or a TrainableParam operator of the main graph makes. What is
    /// written is this session's own, and holds from the next [`resize`](Self::resize) on.
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
        // SAFETY: the name lives during the call; borrowed alone.
        let handle = tensor(|out| unsafe { sys::mnn_session_constant(session, name.as_ptr(), out) })?;
        // SAFETY: the tensor lives as long as the session, which is borrowed alone.
        Ok(unsafe { TensorMut::new(handle, self.handle) })
    }

    /// The names of the constants, in the order of the file.
    pub fn constant_names(&self) -> Result<Vec<Cow<'_, str>>> {
        // SAFETY: an out-pointer to a value.
        let count = get(|count| unsafe { sys::mnn_session_constant_count(self.as_ptr(), count) })?;
        (0..count)
            // SAFETY: strings of the session.
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
        // SAFETY: an out-pointer to a value.
        tensor(|out| unsafe { sys::mnn_session_input_at(self.as_ptr(), index, out) })
    }

    pub(crate) fn output_handle(&self, name: &str) -> Result<NonNull<sys::mnn_tensor_t>> {
        let name = c_string(name, "the name of an output")?;
        // SAFETY: the name lives during the call.
        tensor(|out| unsafe { sys::mnn_session_output(self.as_ptr(), name.as_ptr(), out) })
    }

    fn output_handle_at(&self, index: usize) -> Result<NonNull<sys::mnn_tensor_t>> {
        // SAFETY: an out-pointer to a value.
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
