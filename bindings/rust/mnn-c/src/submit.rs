//! Runs that are begun now and waited for later.

use crate::call::{check, outcome};
use crate::cancel::{self, CancelToken};
use crate::error::{ErrorKind, Result};
use crate::mirror::setters;
use crate::panics::{self, Payload};
use crate::run::default_options;
use crate::session::Session;
use mnn_c_sys as sys;
use std::fmt;
use std::os::raw::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Closure = Box<dyn FnOnce(Result<()>) + Send>;

/// Options of a run that is begun: the argument of [`Session::submit`].
#[derive(Default)]
#[must_use]
pub struct SubmitOptions {
    cancel: Option<CancelToken>,
    done: Option<Closure>,
}

impl SubmitOptions {
    /// The defaults: nothing ends the run, and nothing is called at its end.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The token that ends the run, even while it waits for its turn.
        cancel: shared CancelToken;
    }

    /// Calls a closure when the run has ended, with its result, on the thread of the library that completed it: to wake
    /// a task, for example. It is dropped without a call when the run does not begin. A panic in it is raised again
    /// where the run is waited for.
    pub fn done(mut self, closure: impl FnOnce(Result<()>) + Send + 'static) -> Self {
        self.done = Some(Box::new(closure));
        self
    }
}

impl fmt::Debug for SubmitOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubmitOptions")
            .field("cancel", &self.cancel)
            .field("done", &self.done.is_some())
            .finish()
    }
}

/// The end of a run, shared by the run and the thread that waits for it.
struct End {
    closure: Mutex<Option<Closure>>,
    panic: Mutex<Option<Payload>>,
}

/// A run that was begun by [`Session::submit`] and borrows its session. Dropping it waits for the run.
#[must_use = "dropping it waits for the run"]
pub struct Pending<'s> {
    session: &'s mut Session,
    end: Option<Arc<End>>,
}

impl fmt::Debug for Pending<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending").finish_non_exhaustive()
    }
}

impl Session {
    /// Begins a run and returns without waiting for its end. A run that a GPU computes completely is submitted to the
    /// GPU; other runs are computed by one more thread, that of the session or of its [`Runtime`](crate::Runtime),
    /// first in, first out.
    ///
    /// Fails like [`run`](Self::run) where the run cannot begin; other errors are those of [`Pending::wait`].
    ///
    /// ```
    /// # use mnn_c::{Format, Interpreter, ScheduleConfig};
    /// use mnn_c::SubmitOptions;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/digits/digits.mnn");
    /// # let net = Interpreter::from_file(path)?;
    /// # let mut session = net.create_session(&ScheduleConfig::new())?;
    /// session.input_mut("image")?.write(&[0.5f32; 64], Format::Nchw)?;
    /// let pending = session.submit(SubmitOptions::new())?;
    /// // This thread does something else meanwhile.
    /// pending.wait()?;
    /// let scores: Vec<f32> = session.output("scores")?.read(Format::Nchw)?;
    /// # assert_eq!(scores.len(), 10);
    /// # Ok::<(), mnn_c::Error>(())
    /// ```
    ///
    /// The session is borrowed until the run was waited for:
    ///
    /// ```compile_fail,E0499
    /// # fn wrong(mut session: mnn_c::Session) -> mnn_c::Result<()> {
    /// let pending = session.submit(mnn_c::SubmitOptions::new())?;
    /// session.run()?;
    /// pending.wait()
    /// # }
    /// ```
    pub fn submit(&mut self, options: SubmitOptions) -> Result<Pending<'_>> {
        // The thread that ends the run passes on panics of closures. Without any no thread is asked for, because a run
        // that a GPU computes completely needs none.
        let watched = options.done.is_some() || self.calls_host;
        let end = watched.then(|| {
            Arc::new(End {
                closure: Mutex::new(options.done),
                panic: Mutex::new(None),
            })
        });
        let mut wanted = default_options()?;
        wanted.cancel = cancel::pointer(&options.cancel);
        if let Some(end) = &end {
            wanted.done = Some(on_end);
            wanted.user_data = Arc::into_raw(end.clone()) as *mut c_void;
        }
        // SAFETY: the session is borrowed exclusively; the token lives during the call, and the library keeps it until
        // the run ends.
        let result = outcome(unsafe { sys::mnn_session_submit(self.as_ptr_mut(), &wanted) });
        if let Err(error) = result {
            if watched {
                // SAFETY: a run that did not begin does not end, so the pointer still belongs to this function.
                drop(unsafe { Arc::from_raw(wanted.user_data as *const End) });
            }
            panics::resume();
            return Err(error);
        }
        self.submitted = true;
        // It exists before a panic goes on, which then waits for the run.
        let pending = Pending { session: self, end };
        panics::resume();
        Ok(pending)
    }
}

impl Pending<'_> {
    /// Waits until the run has ended, and returns its result.
    pub fn wait(mut self) -> Result<()> {
        self.finish(-1)
    }

    /// Waits for at most `timeout`: `Err` returns the run, which continues.
    pub fn wait_timeout(mut self, timeout: Duration) -> std::result::Result<Result<()>, Self> {
        let nanoseconds = i64::try_from(timeout.as_nanos()).unwrap_or(i64::MAX);
        match self.finish(nanoseconds) {
            Err(error) if error.kind() == ErrorKind::Timeout && self.session.submitted => Err(self),
            result => Ok(result),
        }
    }

    fn finish(&mut self, nanoseconds: i64) -> Result<()> {
        // SAFETY: the session is borrowed exclusively.
        let status = unsafe { sys::mnn_session_wait(self.session.as_ptr_mut(), nanoseconds) };
        let result = check(status);
        // The thread of submitted runs cannot wait for a run that comes after its present one.
        let goes_on = |kind| kind == ErrorKind::Timeout || kind == ErrorKind::Busy;
        if !matches!(&result, Err(error) if goes_on(error.kind())) {
            self.session.submitted = false;
            let caught = self.end.take().and_then(|end| lock(&end.panic).take());
            if let Some(payload) = caught {
                if !std::thread::panicking() {
                    resume_unwind(payload);
                }
            }
        }
        result
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if self.session.submitted {
            // A caller that drops it does not need the result.
            let _ = self.finish(-1);
        }
    }
}

/// Locks a mutex whose contents no panic leaves half changed.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// # Safety
/// `user_data` is the pointer of an `Arc<End>`, which this call takes.
unsafe extern "C" fn on_end(user_data: *mut c_void, status: sys::mnn_status) {
    let result = outcome(status);
    // SAFETY: the caller keeps the promise of this function.
    let end = unsafe { Arc::from_raw(user_data as *const End) };
    let earlier = panics::take();
    let closure = lock(&end.closure).take();
    let own = catch_unwind(AssertUnwindSafe(|| {
        if let Some(closure) = closure {
            closure(result);
        }
    }));
    *lock(&end.panic) = earlier.or(own.err());
}
