//! External weights that the program gives in place of a file.

use crate::panics;
use mnn_c_sys as sys;
use std::io;
use std::os::raw::c_void;

type ReadClosure = Box<dyn Fn(u64, &mut [u8]) -> io::Result<()> + Send + Sync>;

pub(crate) enum HostWeights {
    Bytes(Box<dyn AsRef<[u8]> + Send + Sync>),
    Reader { size: u64, read: ReadClosure },
}

impl HostWeights {
    /// Writes the fields of the options. The library frees the leaked objects through the finalizer, except after
    /// `MNN_ERROR_VERSION_MISMATCH`: then [`take_back`] frees them.
    pub fn give(self, options: &mut sys::mnn_interpreter_options_t) {
        let place = Box::into_raw(Box::new(self));
        options.external_weight_user_data = place.cast();
        options.external_weight_finalizer = Some(on_end);
        // SAFETY: the object was leaked just now.
        match unsafe { &*place } {
            Self::Bytes(owner) => {
                let bytes = (**owner).as_ref();
                options.external_weight_size = bytes.len() as u64;
                // The library refuses empty bytes by their size, for which it needs an address.
                options.external_weight_data = bytes.as_ptr().cast();
                options.external_weight_mode = sys::MNN_LOAD_BORROW;
            }
            Self::Reader { size, .. } => {
                options.external_weight_size = *size;
                options.external_weight_reader = Some(on_read);
            }
        }
    }
}

/// Frees the objects that [`HostWeights::give`] leaked.
///
/// # Safety
/// The library did not read the options.
pub(crate) unsafe fn take_back(options: &sys::mnn_interpreter_options_t) {
    if options.external_weight_finalizer.is_some() {
        // SAFETY: the caller keeps the promise of this function.
        unsafe { on_end(options.external_weight_user_data) };
    }
}

/// # Safety
/// `user_data` is a `HostWeights::Reader`, and `bytes` can be written at `destination`.
unsafe extern "C" fn on_read(
    user_data: *mut c_void,
    offset: u64,
    destination: *mut c_void,
    bytes: usize,
) -> sys::mnn_status {
    panics::catch(|| {
        // SAFETY: the caller keeps the promise of this function; the closure may be called by several threads at once.
        let read = match unsafe { &*user_data.cast::<HostWeights>() } {
            HostWeights::Reader { read, .. } => read,
            HostWeights::Bytes(_) => return sys::MNN_ERROR_INTERNAL,
        };
        // SAFETY: the caller keeps the promise of this function. The memory may be uninitialised, and a slice of it
        // must have values.
        let target = unsafe {
            std::ptr::write_bytes(destination.cast::<u8>(), 0, bytes);
            std::slice::from_raw_parts_mut(destination.cast::<u8>(), bytes)
        };
        match read(offset, target) {
            Ok(()) => sys::MNN_OK,
            Err(_) => sys::MNN_ERROR_FILE_READ_FAILED,
        }
    })
    .unwrap_or(sys::MNN_ERROR_CALLBACK_STOP)
}

/// # Safety
/// `user_data` is a `HostWeights` that is not used any more.
unsafe extern "C" fn on_end(user_data: *mut c_void) {
    // SAFETY: the caller keeps the promise of this function.
    panics::catch(|| drop(unsafe { Box::from_raw(user_data.cast::<HostWeights>()) }));
}
