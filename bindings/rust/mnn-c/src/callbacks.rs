//! Closures around the operators of a run.

use crate::call::check;
use crate::codes::OpAction;
use crate::error::Result;
use crate::panics;
use crate::session::{OpInfo, Session};
use crate::tensor::Tensor;
use mnn_c_sys as sys;
use std::os::raw::c_void;
use std::ptr::NonNull;

type Closure<'r> = Option<&'r mut dyn FnMut(&OpCall<'_>) -> OpAction>;

/// An operator of a run, before or after its execution.
///
/// The library's own copies and changes of layout come too, with `Copy` as type; [`Session::op_count`] does
/// not count them.
pub struct OpCall<'c> {
    info: &'c sys::mnn_session_op_info_t,
    tensors: &'c [*const sys::mnn_tensor_t],
    session: &'c Session,
}

impl<'c> OpCall<'c> {
    /// What it is and where it runs.
    pub fn op(&self) -> OpInfo<'c> {
        // SAFETY: the strings live during the callback.
        unsafe { OpInfo::from_c(self.info) }
    }

    /// Its inputs before it, its outputs after it. Values in a GPU's memory cannot be read
    /// ([`ErrorKind::BadState`](crate::ErrorKind::BadState)): name the tensor in
    /// [`ScheduleConfig::save_tensors`](crate::ScheduleConfig::save_tensors) instead.
    pub fn tensors(&self) -> Vec<Tensor<'c>> {
        let handles = self.tensors.iter();
        handles
            .filter_map(|handle| NonNull::new(*handle as *mut sys::mnn_tensor_t))
            // SAFETY: the tensors live during the callback, and `Tensor` calls const functions only.
            .map(|handle| unsafe { Tensor::new(handle) })
            .collect()
    }

    /// The session that runs.
    pub fn session(&self) -> &'c Session {
        self.session
    }
}

/// `mnn_session_run_with_callbacks`.
///
/// # Safety
/// The handle is the session's, and no other thread is inside a call with it that is not const.
pub(crate) unsafe fn run(
    session: &Session,
    handle: *mut sys::mnn_session_t,
    before: Closure<'_>,
    after: Closure<'_>,
) -> Result<()> {
    let (on_before, on_after) = (
        before.is_some().then_some(on_op::<false> as _),
        after.is_some().then_some(on_op::<true> as _),
    );
    let mut context = Context {
        session,
        before,
        after,
    };
    let user_data: *mut Context<'_, '_, '_> = &mut context;
    // SAFETY: as promised; the context lives during the call.
    check(unsafe { sys::mnn_session_run_with_callbacks(handle, on_before, on_after, user_data.cast()) })
}

struct Context<'s, 'b, 'a> {
    session: &'s Session,
    before: Closure<'b>,
    after: Closure<'a>,
}

/// # Safety
/// `user_data` is a `Context` that nobody else uses, the rest as the header says.
unsafe extern "C" fn on_op<const AFTER: bool>(
    user_data: *mut c_void,
    info: *const sys::mnn_session_op_info_t,
    tensors: *const *const sys::mnn_tensor_t,
    tensor_count: usize,
) -> i32 {
    let answer = panics::catch(|| {
        // SAFETY: as promised; without tensors the pointer may be NULL.
        let (context, info, tensors) = unsafe {
            let tensors = match tensor_count {
                0 => &[],
                count => std::slice::from_raw_parts(tensors, count),
            };
            (&mut *user_data.cast::<Context<'_, '_, '_>>(), &*info, tensors)
        };
        let closure = if AFTER {
            &mut context.after
        } else {
            &mut context.before
        };
        let call = OpCall {
            info,
            tensors,
            session: context.session,
        };
        closure.as_mut().map_or(OpAction::Run, |closure| closure(&call))
    });
    answer.unwrap_or(OpAction::Stop).code()
}
