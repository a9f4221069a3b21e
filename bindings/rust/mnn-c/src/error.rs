//! Errors: a kind, its number, and a sentence.

use crate::codes::codes;
use mnn_c_sys as sys;
use std::ffi::CStr;
use std::fmt;

/// The result of the calls of this crate.
pub type Result<T> = std::result::Result<T, Error>;

codes! {
    /// The kinds of errors: the statuses of the C interface.
    ErrorKind {
        /// The host has no more memory.
        OutOfMemory = MNN_ERROR_OUT_OF_MEMORY,
        /// An operator, an element type or a form of it is not implemented.
        NotSupported = MNN_ERROR_NOT_SUPPORTED,
        /// An operator refuses the shapes of its inputs.
        ComputeSize = MNN_ERROR_COMPUTE_SIZE,
        /// No backend of the session runs an operator.
        NoExecution = MNN_ERROR_NO_EXECUTION,
        /// An argument has a value that is not allowed.
        InvalidValue = MNN_ERROR_INVALID_VALUE,
        /// The data of an input does not fit the tensor or the operator.
        InputData = MNN_ERROR_INPUT_DATA,
        /// A callback asked to stop.
        CallbackStop = MNN_ERROR_CALLBACK_STOP,
        /// A file exists but cannot be opened, or is a directory.
        FileOpenFailed = MNN_ERROR_FILE_OPEN_FAILED,
        /// A file was opened but not read or mapped to its end.
        FileReadFailed = MNN_ERROR_FILE_READ_FAILED,
        /// No such file.
        FileNotExist = MNN_ERROR_FILE_NOT_EXIST,
        /// A pointer that must not be NULL is NULL. This crate passes none.
        NullArgument = MNN_ERROR_NULL_ARGUMENT,
        /// A tensor is not of the kind that the call needs, e.g. an output where an input is resized.
        BadHandle = MNN_ERROR_BAD_HANDLE,
        /// The call is not allowed now, e.g. before a resize.
        BadState = MNN_ERROR_BAD_STATE,
        /// No tensor, operator or instruction set of that name.
        NotFound = MNN_ERROR_NOT_FOUND,
        /// A number is outside its range.
        BadRange = MNN_ERROR_BAD_RANGE,
        /// Element types do not match.
        BadType = MNN_ERROR_BAD_TYPE,
        /// The bytes are not a well-formed model.
        BadFormat = MNN_ERROR_BAD_FORMAT,
        /// An index, of the caller or inside the model, is too large.
        BadIndex = MNN_ERROR_BAD_INDEX,
        /// The model or its weight file ends too early.
        Truncated = MNN_ERROR_TRUNCATED,
        /// Another call is using the session. Borrowing excludes most such calls; a thread can still read the session
        /// of [`OpCall::session`](crate::OpCall::session) while another thread is in the run.
        Busy = MNN_ERROR_BUSY,
        /// The wanted backend is not built in or has no device.
        BackendMissing = MNN_ERROR_BACKEND_MISSING,
        /// A struct size or version that the library does not know.
        VersionMismatch = MNN_ERROR_VERSION_MISMATCH,
        /// The [`CancelToken`](crate::CancelToken) of the call was triggered.
        Cancelled = MNN_ERROR_CANCELLED,
        /// An operator carries the wrong or an incomplete parameter table.
        BadParameter = MNN_ERROR_BAD_PARAMETER,
        /// Weights are missing, too short or not decodable.
        BadWeights = MNN_ERROR_BAD_WEIGHTS,
        /// A product of extents, an offset or a size does not fit its type.
        Overflow = MNN_ERROR_OVERFLOW,
        /// A tensor is used before it is made, or a subgraph reaches itself.
        Cycle = MNN_ERROR_CYCLE,
        /// The limit of memory or of loop iterations was crossed, or there are too many handles.
        LimitExceeded = MNN_ERROR_LIMIT_EXCEEDED,
        /// The caller's buffer is too small for the result.
        BufferTooSmall = MNN_ERROR_BUFFER_TOO_SMALL,
        /// A GPU stopped working: its sessions fail from now on, new ones may work.
        DeviceLost = MNN_ERROR_DEVICE_LOST,
        /// A GPU driver gave an unexpected result; the sentence has its number.
        Driver = MNN_ERROR_DRIVER,
        /// A model or weight file is no longer the one that was loaded.
        FileChanged = MNN_ERROR_FILE_CHANGED,
        /// A file could not be written.
        FileWriteFailed = MNN_ERROR_FILE_WRITE_FAILED,
        /// A submitted run did not end in the time that was given.
        Timeout = MNN_ERROR_TIMEOUT,
        /// A defect of the library.
        Internal = MNN_ERROR_INTERNAL,
    }
}

impl ErrorKind {
    /// The name in the C interface, e.g. `MNN_ERROR_NOT_FOUND`; `unknown status` for a number that the library does not
    /// know.
    pub fn name(self) -> &'static str {
        // SAFETY: a constant string of the library, for any number.
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
        // SAFETY: never NULL, valid until this thread's next call.
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
