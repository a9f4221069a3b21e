//! Tokens that end calls of other threads.

use crate::call::get_pointer;
use crate::error::Result;
use mnn_c_sys as sys;
use std::ptr::{null_mut, NonNull};
use std::sync::Arc;

/// Ends the calls that it was given to, from any thread: loading
/// ([`InterpreterOptions::cancel`](crate::InterpreterOptions::cancel)), creating a session
/// ([`ScheduleConfig::cancel`](crate::ScheduleConfig::cancel)), resizing
/// ([`ResizeOptions::cancel`](crate::ResizeOptions::cancel)) and running
/// ([`RunOptions::cancel`](crate::RunOptions::cancel)). They fail with
/// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled): a run after the operator it is in, on a GPU after those
/// that were submitted with it.
///
/// A token stays triggered until it is reset, so a trigger is never lost: a call that begins later ends at once.
/// Clones are the same token, which may be given to any number of calls. A call keeps its token until it returns,
/// so every clone may be dropped meanwhile.
///
/// ```
/// use mnn_c::{CancelToken, ErrorKind, RunOptions};
/// # use mnn_c::{Interpreter, ScheduleConfig};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/digits/digits.mnn");
/// # let net = Interpreter::from_file(path)?;
/// # let mut session = net.create_session(&ScheduleConfig::new())?;
/// let token = CancelToken::new()?;
/// let of_the_thread = token.clone();
/// std::thread::spawn(move || of_the_thread.trigger()).join().unwrap();
/// let error = session.run_with(RunOptions::new().cancel(&token)).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Cancelled);
/// # Ok::<(), mnn_c::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CancelToken {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    handle: NonNull<sys::mnn_cancel_t>,
}

// SAFETY: every function that takes a token may be called from any thread at any time.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl CancelToken {
    /// A token that is not triggered.
    pub fn new() -> Result<Self> {
        // SAFETY: the out-pointer points to a value.
        let (handle, result) = get_pointer(|out| unsafe { sys::mnn_cancel_create(out) });
        result?;
        let handle = NonNull::new(handle).expect("a handle comes with MNN_OK");
        Ok(Self {
            shared: Arc::new(Shared { handle }),
        })
    }

    /// Ends the calls that have the token, and those that get it before the next [`reset`](Self::reset). Locks and
    /// allocates nothing, so it may be called in a signal handler.
    pub fn trigger(&self) {
        // SAFETY: the token is live, so the call does not fail.
        unsafe { sys::mnn_cancel_trigger(self.as_ptr()) };
    }

    /// Removes a trigger for calls that begin afterwards; running calls end all the same.
    pub fn reset(&self) {
        // SAFETY: the token is live, so the call does not fail.
        unsafe { sys::mnn_cancel_reset(self.as_ptr()) };
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::mnn_cancel_t {
        self.shared.handle.as_ptr()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let mut handle = self.handle.as_ptr();
        // SAFETY: the handle is not used any more. Destroying a live token does not fail.
        unsafe { sys::mnn_cancel_destroy(&mut handle) };
    }
}

/// The value of the `cancel` field of a struct of the C interface; the token has to live during the call.
pub(crate) fn pointer(token: &Option<CancelToken>) -> *mut sys::mnn_cancel_t {
    token.as_ref().map_or(null_mut(), CancelToken::as_ptr)
}
