//! The description of a session: its work and operators, plans as text, pipelines.

use crate::call::{check, filled, get, get_report};
use crate::error::{ErrorKind, Result};
use crate::mirror::mirror;
use crate::session::Session;
use mnn_c_sys as sys;
use std::borrow::Cow;
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

mirror! {
    /// An operator that a session executes, and where it runs.
    #[derive(Clone, Debug, PartialEq)]
    OpInfo<'s> = mnn_op_info_t {
        /// Its name; empty when it has none.
        name: Cow<'s, str>,
        /// Its type, e.g. `Convolution`.
        type_name: Cow<'s, str>,
        /// Where it runs, e.g. `cpu`; empty when that is not decided yet, because a run plans it.
        backend_name: Cow<'s, str>,
        /// Why the requested backend does not run it; `None` when it does.
        reason: Option<Cow<'s, str>>,
        /// Floating point operations of all its executions in a run, in a closure of the present one; `None` when
        /// contents decide how many there are.
        flops: Option<f64>,
        /// Whether it is shape arithmetic on small integer tensors.
        host_shape: bool,
        /// The algorithm; `None` when there is only one.
        algorithm: Option<Cow<'s, str>>,
        /// Set for the closure after it, in a run with [`RunOptions::device_times`](crate::RunOptions::device_times):
        /// milliseconds by the clock of the GPU; `None` when they are not known.
        device_ms: Option<f64>,
        /// Its number for [`Interpreter::op`](crate::Interpreter::op); `None` when the library added it.
        op_index: Option<usize>,
    }
}

impl Session {
    /// The compiled pipelines of a GPU session, for [`Interpreter::set_cache`](crate::Interpreter::set_cache) of
    /// a later process. Empty on the CPU.
    pub fn cache(&self) -> Result<Vec<u8>> {
        loop {
            let mut size = 0;
            // SAFETY: a capacity of 0 asks for the size.
            check(unsafe { sys::mnn_session_cache(self.as_ptr(), null_mut(), 0, &mut size) })?;
            let mut bytes = vec![0u8; size];
            let (buffer, capacity) = (bytes.as_mut_ptr().cast(), bytes.len());
            // SAFETY: the buffer has `capacity` bytes.
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

    /// Describes the session as text for people: `passes`, `plan`, `plan after:NAME` or `algorithms`, whose wording may
    /// change with any version; or as JSON: `graph`. Plans need
    /// [`ScheduleConfig::record_plan`](crate::ScheduleConfig::record_plan).
    pub fn report(&self, what: &str) -> Result<String> {
        // SAFETY: the buffer has `capacity` bytes.
        unsafe {
            get_report(what, |what, buffer, capacity, size| {
                sys::mnn_session_report(self.as_ptr(), what, buffer, capacity, size)
            })
        }
    }

    /// Whether the session used the cache that it was given.
    pub fn cache_accepted(&self) -> Result<bool> {
        // SAFETY: the out-pointer points to a value.
        get(|accepted| unsafe { sys::mnn_session_cache_accepted(self.as_ptr(), accepted) })
    }

    /// The work of one run.
    pub fn flops(&self) -> Result<Flops> {
        let mut complete = false;
        // SAFETY: the out-pointers point to values.
        let count = get(|flops| unsafe { sys::mnn_session_flops(self.as_ptr(), flops, &mut complete) })?;
        Ok(Flops { count, complete })
    }

    /// The number of operators that the session executes: after constant folding and fusion, including those in the
    /// bodies of control flow.
    pub fn op_count(&self) -> Result<usize> {
        // SAFETY: the out-pointer points to a value.
        get(|count| unsafe { sys::mnn_session_op_count(self.as_ptr(), count) })
    }

    /// The operator with an index in the order of execution: the place where it runs and the reason.
    pub fn op(&self, index: usize) -> Result<OpInfo<'_>> {
        // SAFETY: the strings live until the next resize or run, which the borrow excludes.
        unsafe { filled(|info| sys::mnn_session_op_info(self.as_ptr(), index, info)) }
    }
}
