//! The library itself: versions and backends.

use crate::call::{check, get, get_text};
use crate::codes::ForwardType;
use crate::error::Result;
use mnn_c_sys as sys;
use std::borrow::Cow;
use std::ffi::CStr;

/// The version of the library, `major.minor.patch`.
pub fn version() -> &'static str {
    // SAFETY: the string is a constant.
    let version = unsafe { CStr::from_ptr(sys::mnn_version()) };
    version.to_str().unwrap_or_default()
}

/// The version of the library as numbers: (major, minor, patch).
pub fn version_numbers() -> Result<(i32, i32, i32)> {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: the out-pointers point to values.
    check(unsafe { sys::mnn_version_numbers(&mut major, &mut minor, &mut patch) })?;
    Ok((major, minor, patch))
}

/// The version of the binary interface, (major, minor).
pub fn abi_version() -> (u32, u32) {
    // SAFETY: the call has no conditions.
    let version = unsafe { sys::mnn_abi_version() };
    (version >> 16, version & 0xffff)
}

/// A backend that is compiled in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backend {
    /// Its name, e.g. `cpu`.
    pub name: Cow<'static, str>,
    /// The value that selects it in a [`ScheduleConfig`](crate::ScheduleConfig).
    pub forward_type: ForwardType,
}

/// The backends that are compiled in; they may have no device on this machine.
///
/// ```
/// use mnn_c::ForwardType;
///
/// let backends = mnn_c::backends()?;
/// assert!(backends.iter().any(|backend| backend.forward_type == ForwardType::Cpu));
/// # Ok::<(), mnn_c::Error>(())
/// ```
pub fn backends() -> Result<Vec<Backend>> {
    // SAFETY: the out-pointers point to values; the names are constant strings.
    unsafe {
        let count = get(|count| sys::mnn_backend_count(count))?;
        (0..count)
            .map(|index| {
                let code = get(|code| sys::mnn_backend_forward_type(index, code))?;
                Ok(Backend {
                    name: get_text(|name| sys::mnn_backend_name(index, name))?,
                    forward_type: ForwardType::from_code(code),
                })
            })
            .collect()
    }
}
