//! The description of a session: its work and operators, plans as text, pipelines.

use crate::call::{check, get, get_report, optional_text};
use crate::error::{ErrorKind, Result};
use crate::session::Session;
use mnn_c_sys as sys;
use std::borrow::Cow;
use std::mem::{size_of, MaybeUninit};
use std::ptr::null_mut;

/// The work of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Flops {
    /// Floating point operations; a multiply-add is two.
    pub count: f64,
    /// False when operators are left out because their shapes depend on contents that are not yet known.
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
    /// Why the requested backend does not run it; `None` when it does.
    pub reason: Option<Cow<'s, str>>,
    /// Floating point operations of all its executions in a run; `None` when the number depends on contents.
    pub flops: Option<f64>,
    /// Whether it is shape arithmetic on small integer tensors.
    pub host_shape: bool,
    /// The algorithm; `None` when there is only one.
    pub algorithm: Option<Cow<'s, str>>,
    /// Set for the closure after it, in a run with [`RunOptions::device_times`](crate::RunOptions::device_times):
    /// milliseconds by the clock of the GPU; `None` when they are not known.
    pub device_ms: Option<f64>,
    /// Its number for [`Interpreter::op`](crate::Interpreter::op); `None` when the library added it.
    pub op_index: Option<usize>,
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
                op_index: usize::try_from(info.op_index).ok(),
            }
        }
    }
}

impl Session {
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

    /// Whether the session used the cache that it was given.
    pub fn cache_accepted(&self) -> Result<bool> {
        // SAFETY: an out-pointer to a value.
        get(|accepted| unsafe { sys::mnn_session_cache_accepted(self.as_ptr(), accepted) })
    }

    /// The work of one run.
    pub fn flops(&self) -> Result<Flops> {
        let mut complete = false;
        // SAFETY: out-pointers to values.
        let count = get(|flops| unsafe { sys::mnn_session_flops(self.as_ptr(), flops, &mut complete) })?;
        Ok(Flops { count, complete })
    }

    /// The number of operators that the session executes: after constant folding and fusion, including those in the
    /// bodies of control flow.
    pub fn op_count(&self) -> Result<usize> {
        // SAFETY: an out-pointer to a value.
        get(|count| unsafe { sys::mnn_session_op_count(self.as_ptr(), count) })
    }

    /// The place where each operator runs and the reason, in the order of execution.
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
}
