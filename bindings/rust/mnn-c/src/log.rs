//! Log messages as closures.

use crate::codes::LogLevel;
use crate::panics;
use mnn_c_sys as sys;
use std::ffi::CStr;
use std::os::raw::{c_char, c_void};
use std::ptr::null_mut;

pub(crate) type LogClosure = Box<dyn Fn(LogLevel, &str) + Send + Sync>;

/// The fields of a struct of the C interface that carry a closure.
pub(crate) struct LogFields {
    pub callback: sys::mnn_log_callback,
    pub user_data: *mut c_void,
    pub finalizer: sys::mnn_finalizer,
    pub level: i32,
}

impl LogFields {
    /// The closure is leaked: the library frees it through the finalizer, or [`take_back`](Self::take_back) does.
    pub fn new(log: Option<(LogLevel, LogClosure)>) -> Self {
        match log {
            None => Self {
                callback: None,
                user_data: null_mut(),
                finalizer: None,
                level: sys::MNN_LOG_DEFAULT,
            },
            Some((level, closure)) => Self {
                callback: Some(on_message),
                user_data: Box::into_raw(Box::new(closure)).cast(),
                finalizer: Some(on_last_message),
                level: level.code(),
            },
        }
    }

    /// Returns the closure of a call that failed.
    ///
    /// # Safety
    /// The library did not keep the closure.
    pub unsafe fn take_back(self) -> Option<Box<LogClosure>> {
        // SAFETY: the caller keeps the promise of this function; the pointer comes from `new`.
        (!self.user_data.is_null()).then(|| unsafe { Box::from_raw(self.user_data.cast()) })
    }
}

/// # Safety
/// `user_data` is a `LogClosure`, and `message` is a string.
unsafe extern "C" fn on_message(user_data: *mut c_void, level: i32, message: *const c_char) {
    panics::catch(|| {
        // SAFETY: the caller keeps the promise of this function; the closure may be called by several threads at once.
        let (closure, message) = unsafe { (&*user_data.cast::<LogClosure>(), CStr::from_ptr(message)) };
        closure(LogLevel::from_code(level), &message.to_string_lossy());
    });
}

/// # Safety
/// `user_data` is a `LogClosure` that is not used any more.
unsafe extern "C" fn on_last_message(user_data: *mut c_void) {
    // SAFETY: the caller keeps the promise of this function.
    panics::catch(|| drop(unsafe { Box::from_raw(user_data.cast::<LogClosure>()) }));
}
