//! The state that a session keeps from run to run, for example keys and values of a language model.

use crate::call::{check, filled};
use crate::codes::ElementType;
use crate::error::Result;
use crate::mirror::mirror;
use crate::session::Session;
use mnn_c_sys as sys;
use std::ops::Range;
use std::ptr::null_mut;

mirror! {
    /// The state of a session. A row is what is kept of one token.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    StateProperties = mnn_state_properties_t {
        /// The number of operators that keep something; 0: the session has no state.
        operators: u64,
        /// The rows of all runs that succeeded.
        length: u64,
        /// The length up to which runs take no memory for it.
        capacity: u64,
        /// The size of its memory.
        bytes: u64,
        /// The type of the elements of rows: `Float32` or `Float16`.
        element_type: ElementType = r#type,
        /// Whether [`erase_state`](Session::erase_state) can remove rows.
        erasable: bool,
    }
}

impl Session {
    /// Describes the state of the session. A run adds as many rows as its inputs have tokens; one that fails, is
    /// cancelled or stopped leaves the state as it was.
    pub fn state(&self) -> Result<StateProperties> {
        // SAFETY: the struct has no strings.
        unsafe { filled(|info| sys::mnn_session_state_info(self.as_ptr(), info)) }
    }

    /// Forgets all rows. Their memory stays for later runs; [`trim`](Session::trim) gives it back.
    pub fn reset_state(&mut self) -> Result<()> {
        // SAFETY: the session is borrowed exclusively.
        check(unsafe { sys::mnn_session_state_reset(self.as_ptr_mut()) })
    }

    /// Removes rows; the rows behind them move up.
    pub fn erase_state(&mut self, rows: Range<u64>) -> Result<()> {
        // SAFETY: the session is borrowed exclusively.
        check(unsafe { sys::mnn_session_state_erase(self.as_ptr_mut(), rows.start, rows.end) })
    }

    /// Allocates memory for `length` rows in total, so that runs up to this length allocate none.
    pub fn reserve_state(&mut self, length: u64) -> Result<()> {
        // SAFETY: the session is borrowed exclusively.
        check(unsafe { sys::mnn_session_state_reserve(self.as_ptr_mut(), length) })
    }

    /// Chooses the type in which rows are kept, while there are none: `Float32`, or `Float16` in half of the memory.
    pub fn set_state_type(&mut self, element_type: ElementType) -> Result<()> {
        // SAFETY: the session is borrowed exclusively.
        check(unsafe { sys::mnn_session_state_set_type(self.as_ptr_mut(), element_type.code()) })
    }

    /// Copies the state to another session of the same model, which goes on from there.
    pub fn copy_state_to(&self, target: &mut Session) -> Result<()> {
        // SAFETY: one session is borrowed, the other is borrowed exclusively.
        check(unsafe { sys::mnn_session_state_copy(self.as_ptr(), target.as_ptr_mut()) })
    }

    /// The state as bytes, for [`load_state`](Session::load_state) of this or a later process.
    pub fn save_state(&self) -> Result<Vec<u8>> {
        let mut size = 0;
        // SAFETY: a capacity of 0 asks for the size, which stays while the session is borrowed.
        check(unsafe { sys::mnn_session_state_save(self.as_ptr(), null_mut(), 0, &mut size) })?;
        let mut bytes = vec![0u8; size];
        // SAFETY: the buffer has `size` bytes.
        check(unsafe {
            sys::mnn_session_state_save(self.as_ptr(), bytes.as_mut_ptr().cast(), size, &mut size)
        })?;
        Ok(bytes)
    }

    /// Replaces the state by one that [`save_state`](Session::save_state) stored. The bytes are checked.
    pub fn load_state(&mut self, bytes: &[u8]) -> Result<()> {
        // SAFETY: the session is borrowed exclusively; the bytes are not kept.
        check(unsafe { sys::mnn_session_state_load(self.as_ptr_mut(), bytes.as_ptr().cast(), bytes.len()) })
    }
}
