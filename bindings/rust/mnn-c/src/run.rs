//! Options of a run and of a resize; closures around the operators of a run.

use crate::call::{check, defaults};
use crate::cancel::{self, CancelToken};
use crate::codes::OpAction;
use crate::error::Result;
use crate::mirror::{setters, FromC};
use crate::panics;
use crate::session::Session;
use crate::session_info::OpInfo;
use crate::tensor::Tensor;
use mnn_c_sys as sys;
use std::fmt;
use std::os::raw::c_void;
use std::ptr::NonNull;

type Closure<'r> = Option<Box<dyn FnMut(&OpCall<'_>) -> OpAction + 'r>>;

/// Options that end or watch a run: the argument of [`Session::run_with`].
///
/// ```
/// # use mnn_c::{Format, Interpreter, ScheduleConfig};
/// use mnn_c::{OpAction, RunOptions};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/digits/digits.mnn");
/// # let net = Interpreter::from_file(path)?;
/// # let mut session = net.create_session(&ScheduleConfig::new())?;
/// # session.input_mut("image")?.write(&[0f32; 64], Format::Nchw)?;
/// let mut names = Vec::new();
/// session.run_with(RunOptions::new().after(|call| {
///     names.push(call.op().name.into_owned());
///     OpAction::Run
/// }))?;
/// assert!(!names.is_empty());
/// # Ok::<(), mnn_c::Error>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct RunOptions<'r> {
    cancel: Option<CancelToken>,
    before: Closure<'r>,
    after: Closure<'r>,
    device_times: bool,
}

impl<'r> RunOptions<'r> {
    /// The defaults: nothing ends or watches the run.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The token that ends the run.
        cancel: shared CancelToken;
        /// Makes a GPU run its operators one after another and measure each of them: the closure after an operator
        /// finds the time in [`OpInfo::device_ms`](crate::OpInfo::device_ms). Otherwise the GPU overlaps operators
        /// where it can.
        device_times: bool;
    }

    /// Calls a closure before each operator, including those in the bodies of control flow, on the thread that runs. A
    /// panic in it stops the run and is raised again in the caller.
    ///
    /// A GPU executes many operators at once: `before` is called for all of them, then `after`, and none of them can be
    /// skipped. With [`GpuMode::RECORD_OP`](crate::GpuMode::RECORD_OP) it runs them one after another, and can skip them.
    pub fn before(mut self, closure: impl FnMut(&OpCall<'_>) -> OpAction + 'r) -> Self {
        self.before = Some(Box::new(closure));
        self
    }

    /// Calls a closure after each operator, like [`before`](Self::before).
    pub fn after(mut self, closure: impl FnMut(&OpCall<'_>) -> OpAction + 'r) -> Self {
        self.after = Some(Box::new(closure));
        self
    }
}

impl fmt::Debug for RunOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunOptions")
            .field("cancel", &self.cancel)
            .field("before", &self.before.is_some())
            .field("after", &self.after.is_some())
            .field("device_times", &self.device_times)
            .finish()
    }
}

/// Options that end a resize: the argument of [`Session::resize_with`].
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct ResizeOptions {
    cancel: Option<CancelToken>,
}

impl ResizeOptions {
    /// The defaults: nothing ends the resize.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The token that ends the resize.
        cancel: shared CancelToken;
    }
}

/// An operator of a run, before or after its execution.
///
/// The library's own copies and changes of layout call the closures, too, with `Copy` as their type;
/// [`Session::op_count`] does not count them.
pub struct OpCall<'c> {
    info: &'c sys::mnn_op_info_t,
    tensors: &'c [*const sys::mnn_tensor_t],
    session: &'c Session,
}

impl<'c> OpCall<'c> {
    /// The description of the operator.
    pub fn op(&self) -> OpInfo<'c> {
        // SAFETY: the strings live during the callback.
        unsafe { OpInfo::from_c(self.info) }
    }

    /// The operator's inputs before its execution, its outputs after it. Values in a GPU's memory can be read only with
    /// [`GpuMode::RECORD_OP`](crate::GpuMode::RECORD_OP), else ([`ErrorKind::BadState`](crate::ErrorKind::BadState))
    /// name the tensor in [`ScheduleConfig::save_tensors`](crate::ScheduleConfig::save_tensors).
    pub fn tensors(&self) -> Vec<Tensor<'c>> {
        let handles = self.tensors.iter();
        handles
            .filter_map(|handle| NonNull::new(*handle as *mut sys::mnn_tensor_t))
            // SAFETY: the tensors live during the callback, and `Tensor` calls const functions only.
            .map(|handle| unsafe { Tensor::new(handle) })
            .collect()
    }

    /// The session that runs. Only the thread of the closure can read it now; calls of other threads fail with
    /// [`ErrorKind::Busy`](crate::ErrorKind::Busy).
    pub fn session(&self) -> &'c Session {
        self.session
    }
}

impl Session {
    /// [`resize`](Self::resize) with a token that ends it. The session needs a resize afterwards, unless the token
    /// was triggered before the call.
    pub fn resize_with(&mut self, options: &ResizeOptions) -> Result<()> {
        // SAFETY: the session is borrowed exclusively.
        unsafe { resize(self.as_ptr_mut(), options) }
    }

    /// [`run`](Self::run) with a token that ends it, and with closures around its operators.
    pub fn run_with(&mut self, options: RunOptions<'_>) -> Result<()> {
        let handle = self.as_ptr_mut();
        // SAFETY: the session is borrowed exclusively; the closures get the session shared, which allows const
        // functions only.
        unsafe { run(self, handle, options) }
    }
}

/// Returns the options of a run that nothing ends or watches.
pub(crate) fn default_options() -> Result<sys::mnn_run_options_t> {
    // SAFETY: the function initialises this struct.
    unsafe { defaults(sys::mnn_run_options_init) }
}

/// Calls `mnn_session_run_with_options`.
///
/// # Safety
/// The handle is the session's, which is borrowed exclusively.
unsafe fn run(session: &Session, handle: *mut sys::mnn_session_t, options: RunOptions<'_>) -> Result<()> {
    let mut wanted = default_options()?;
    wanted.cancel = cancel::pointer(&options.cancel);
    wanted.before = options.before.is_some().then_some(on_op::<false> as _);
    wanted.device_times = options.device_times.into();
    wanted.after = options.after.is_some().then_some(on_op::<true> as _);
    let mut context = Context { session, options };
    let user_data: *mut Context<'_, '_> = &mut context;
    wanted.user_data = user_data.cast();
    // SAFETY: the caller keeps the promise of this function; the context, and the token in it, live during the call.
    check(unsafe { sys::mnn_session_run_with_options(handle, &wanted) })
}

/// Calls `mnn_session_resize_with_options`.
///
/// # Safety
/// The handle is that of a session, which is borrowed exclusively.
unsafe fn resize(handle: *mut sys::mnn_session_t, options: &ResizeOptions) -> Result<()> {
    // SAFETY: the function initialises this struct.
    let mut wanted = unsafe { defaults(sys::mnn_resize_options_init) }?;
    wanted.cancel = cancel::pointer(&options.cancel);
    // SAFETY: the caller keeps the promise of this function; the token lives during the call.
    check(unsafe { sys::mnn_session_resize_with_options(handle, &wanted) })
}

struct Context<'s, 'r> {
    session: &'s Session,
    options: RunOptions<'r>,
}

/// # Safety
/// `user_data` is a `Context` that no other code uses, the other arguments are those that the header describes.
unsafe extern "C" fn on_op<const AFTER: bool>(
    user_data: *mut c_void,
    info: *const sys::mnn_op_info_t,
    tensors: *const *const sys::mnn_tensor_t,
    tensor_count: usize,
) -> i32 {
    let answer = panics::catch(|| {
        // SAFETY: the caller keeps the promise of this function; without tensors the pointer may be NULL.
        let (context, info, tensors) = unsafe {
            let tensors = match tensor_count {
                0 => &[],
                count => std::slice::from_raw_parts(tensors, count),
            };
            (&mut *user_data.cast::<Context<'_, '_>>(), &*info, tensors)
        };
        let closure = if AFTER {
            &mut context.options.after
        } else {
            &mut context.options.before
        };
        let call = OpCall {
            info,
            tensors,
            session: context.session,
        };
        closure.as_mut().map_or(OpAction::Run, |closure| closure(&call))
    });
    answer.unwrap_or(OpAction::Stop).code()
}
