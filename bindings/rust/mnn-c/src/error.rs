//! Errors: a kind, its number, and a sentence.

pub use crate::codes::ErrorKind;
use mnn_c_sys as sys;
use std::ffi::CStr;
use std::fmt;

/// The result of the calls of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl ErrorKind {
    /// The name in the C interface, e.g. `MNN_ERROR_NOT_FOUND`; `unknown status` for a number that the library does not
    /// know.
    pub fn name(self) -> &'static str {
        // SAFETY: the string is a constant of the library, for any number.
        let name = unsafe { CStr::from_ptr(sys::mnn_status_name(self.code())) };
        name.to_str().unwrap_or("unknown status")
    }
}

/// Why a call failed.
///
/// ```
/// use mnn_c::{ErrorKind, Interpreter};
///
/// let error = Interpreter::from_file("no-such-file.mnn").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::FileNotExist);
/// assert!(error.message().contains("no-such-file.mnn"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    /// Makes an error of a kind with a sentence, which a callback of an [`Operator`](crate::Operator) may return.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, message }
    }

    /// The library's sentence about the call that just failed on this thread.
    pub(crate) fn last(status: sys::mnn_status) -> Self {
        // SAFETY: the string is never NULL, and valid until this thread's next call.
        let message = unsafe { CStr::from_ptr(sys::mnn_last_error()) };
        Self::new(ErrorKind::from_code(status), message.to_string_lossy())
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The number of the C interface.
    pub fn code(&self) -> i32 {
        self.kind.code()
    }

    /// A sentence with the names and numbers at fault.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.kind.name())
    }
}

impl std::error::Error for Error {}
