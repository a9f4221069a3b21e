//! Panics of closures that the library calls are caught on the C side of the call and continued on the Rust side.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

pub(crate) type Payload = Box<dyn Any + Send>;

thread_local! {
    // There is one list for each thread: the library calls a closure on the thread that made the call.
    static CAUGHT: RefCell<Vec<Payload>> = RefCell::new(Vec::new());
}

/// Runs a closure inside of a function that C calls; a panic gives `None` and waits for `resume`.
pub(crate) fn catch<T>(body: impl FnOnce() -> T) -> Option<T> {
    // A call in the body continues its own panics, not those that wait for the end of the call around it.
    let mut earlier = CAUGHT.try_with(RefCell::take).unwrap_or_default();
    let (value, mut payload) = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(value) => (Some(value), None),
        Err(payload) => (None, Some(payload)),
    };
    let _ = CAUGHT.try_with(|caught| {
        let mut caught = caught.borrow_mut();
        let own = std::mem::replace(&mut *caught, std::mem::take(&mut earlier));
        caught.extend(own.into_iter().chain(payload.take()));
    });
    // While the thread ends the panic cannot be passed on; dropping the payload might panic again.
    std::mem::forget(payload);
    value
}

/// The first panic that was caught on this thread.
pub(crate) fn take() -> Option<Payload> {
    CAUGHT
        .try_with(RefCell::take)
        .unwrap_or_default()
        .into_iter()
        .next()
}

/// Continues the first panic that was caught during the call that just returned.
pub(crate) fn resume() {
    if let Some(payload) = take() {
        if !std::thread::panicking() {
            resume_unwind(payload);
        }
    }
}
