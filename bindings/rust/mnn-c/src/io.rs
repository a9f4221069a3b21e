//! Converts errors to those of `std::io`, for programs that pass them on.

use crate::error::{Error, ErrorKind};
use std::io;

/// The nearest kind of the standard library, [`io::ErrorKind::Other`] where none fits.
///
/// [`ErrorKind::FileOpenFailed`] is `PermissionDenied`, also where the path is a directory: the C interface has one
/// status for both. Calls that were cancelled are `Interrupted`, so do not put one into a loop that repeats what was
/// interrupted.
impl From<ErrorKind> for io::ErrorKind {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::OutOfMemory => Self::OutOfMemory,
            ErrorKind::FileNotExist | ErrorKind::NotFound => Self::NotFound,
            ErrorKind::FileOpenFailed => Self::PermissionDenied,
            ErrorKind::Truncated => Self::UnexpectedEof,
            ErrorKind::BadFormat
            | ErrorKind::BadIndex
            | ErrorKind::BadParameter
            | ErrorKind::BadWeights
            | ErrorKind::Cycle
            | ErrorKind::FileChanged
            | ErrorKind::Overflow => Self::InvalidData,
            ErrorKind::BadHandle
            | ErrorKind::BadRange
            | ErrorKind::BadType
            | ErrorKind::BufferTooSmall
            | ErrorKind::ComputeSize
            | ErrorKind::InputData
            | ErrorKind::InvalidValue
            | ErrorKind::NullArgument => Self::InvalidInput,
            ErrorKind::CallbackStop | ErrorKind::Cancelled => Self::Interrupted,
            ErrorKind::Timeout => Self::TimedOut,
            ErrorKind::Busy => Self::WouldBlock,
            ErrorKind::BackendMissing
            | ErrorKind::NoExecution
            | ErrorKind::NotSupported
            | ErrorKind::VersionMismatch => Self::Unsupported,
            _ => Self::Other,
        }
    }
}

/// Makes an error of its kind, with this one inside ([`io::Error::into_inner`]).
///
/// ```
/// use mnn_c::Interpreter;
/// use std::io;
///
/// fn open(path: &str) -> io::Result<Interpreter> {
///     Ok(Interpreter::from_file(path)?)
/// }
/// assert_eq!(open("no-such-file.mnn").unwrap_err().kind(), io::ErrorKind::NotFound);
/// ```
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        Self::new(error.kind().into(), error)
    }
}
