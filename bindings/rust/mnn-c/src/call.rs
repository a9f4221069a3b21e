//! Calls of the C interface: statuses to results, out-pointers to values, strings from and to C.

use crate::error::{Error, ErrorKind, Result};
use crate::mirror::FromC;
use crate::panics;
use mnn_c_sys as sys;
use std::borrow::Cow;
use std::ffi::CString;
use std::mem::{size_of, MaybeUninit};
use std::os::raw::c_char;
use std::path::Path;
use std::ptr::null;

/// Returns the result for a status. It must be called right after the call, because the sentence lives until the next
/// call on this thread.
pub(crate) fn outcome(status: sys::mnn_status) -> Result<()> {
    match status {
        sys::MNN_OK => Ok(()),
        failed => Err(Error::last(failed)),
    }
}

/// Returns the same as `outcome`, but first continues a panic of a closure during the call.
pub(crate) fn check(status: sys::mnn_status) -> Result<()> {
    let result = outcome(status);
    panics::resume();
    result
}

/// Makes a struct that the library fills, with its size in `struct_size`.
macro_rules! sized {
    ($type:ident) => {{
        // SAFETY: the fields are numbers and pointers, for which zero is a value.
        let mut value: mnn_c_sys::$type = unsafe { std::mem::MaybeUninit::zeroed().assume_init() };
        value.struct_size = std::mem::size_of::<mnn_c_sys::$type>();
        value
    }};
}
pub(crate) use sized;

/// The one value that a call writes on success.
pub(crate) fn get<T: Default>(call: impl FnOnce(*mut T) -> sys::mnn_status) -> Result<T> {
    let mut value = T::default();
    check(call(&mut value))?;
    Ok(value)
}

/// Returns the struct of Rust for a struct `C` that a call fills.
///
/// # Safety
/// The struct begins with its size, has only numbers and pointers, and its strings live as long as the result.
pub(crate) unsafe fn filled<C, T: FromC<C>>(call: impl FnOnce(*mut C) -> sys::mnn_status) -> Result<T> {
    let mut info = MaybeUninit::<C>::zeroed();
    // SAFETY: the caller keeps the promise of this function; all zeros are a value.
    unsafe {
        info.as_mut_ptr().cast::<usize>().write(size_of::<C>());
        check(call(info.as_mut_ptr()))?;
        Ok(T::from_c(&info.assume_init()))
    }
}

/// A function `mnn_..._init`.
type Init<T> = unsafe extern "C" fn(*mut T, usize) -> sys::mnn_status;

/// A struct as its `mnn_..._init` fills it.
///
/// # Safety
/// The function initialises a `T` of that size when it succeeds.
pub(crate) unsafe fn defaults<T>(init: Init<T>) -> Result<T> {
    // SAFETY: the caller keeps the promise of this function.
    unsafe { initialised(init, check) }
}

/// Does the same as [`defaults`] for a library with its own errors.
///
/// # Safety
/// The conditions are those of [`defaults`].
pub(crate) unsafe fn initialised<T>(
    init: Init<T>,
    check: impl FnOnce(sys::mnn_status) -> Result<()>,
) -> Result<T> {
    let mut place = MaybeUninit::<T>::uninit();
    // SAFETY: the caller keeps the promise of this function.
    unsafe {
        check(init(place.as_mut_ptr(), size_of::<T>()))?;
        Ok(place.assume_init())
    }
}

/// Returns the handle that a call writes on success, else NULL. It does not continue a panic of a closure, because the
/// handle must get an owner first.
pub(crate) fn get_pointer<T>(call: impl FnOnce(*mut *mut T) -> sys::mnn_status) -> (*mut T, Result<()>) {
    let mut pointer = std::ptr::null_mut();
    let result = outcome(call(&mut pointer));
    (pointer, result)
}

/// The string that a call writes on success.
///
/// # Safety
/// The string lives for `'a`.
pub(crate) unsafe fn get_text<'a>(
    call: impl FnOnce(*mut *const c_char) -> sys::mnn_status,
) -> Result<Cow<'a, str>> {
    let mut text = std::ptr::null();
    check(call(&mut text))?;
    // SAFETY: the caller keeps the promise of this function.
    Ok(unsafe { optional_text(text) }.unwrap_or_default())
}

/// Returns a string of the library, `None` for NULL.
///
/// # Safety
/// The pointer is NULL, or points to a string that lives for `'a`.
pub(crate) unsafe fn optional_text<'a>(text: *const c_char) -> Option<Cow<'a, str>> {
    // SAFETY: the caller keeps the promise of this function.
    unsafe { Option::from_c(&text) }
}

/// A string for the library.
pub(crate) fn c_string(text: impl Into<Vec<u8>>, what: &str) -> Result<CString> {
    CString::new(text).map_err(|error| {
        let position = error.nul_position();
        Error::new(
            ErrorKind::InvalidValue,
            format!("{what} has a zero byte at {position}"),
        )
    })
}

/// Strings for the library, which live as long as this object.
#[derive(Default)]
pub(crate) struct Kept {
    strings: Vec<CString>,
    lists: Vec<Vec<*const c_char>>,
}

impl Kept {
    /// NULL for `None`.
    pub(crate) fn text(&mut self, text: &Option<String>, what: &str) -> Result<*const c_char> {
        text.as_ref().map_or(Ok(null()), |text| self.name(text, what))
    }

    pub(crate) fn name(&mut self, name: &str, what: &str) -> Result<*const c_char> {
        self.strings.push(c_string(name, what)?);
        Ok(self.strings[self.strings.len() - 1].as_ptr())
    }

    /// A list and its length; NULL without names.
    pub(crate) fn names(&mut self, names: &[String], what: &str) -> Result<(*const *const c_char, usize)> {
        let list = names.iter().map(|name| self.name(name, what));
        let list = list.collect::<Result<Vec<_>>>()?;
        let found = if list.is_empty() { null() } else { list.as_ptr() };
        self.lists.push(list);
        Ok((found, names.len()))
    }
}

/// A path for the library.
#[cfg(unix)]
pub(crate) fn c_path(path: &Path) -> Result<CString> {
    use std::os::unix::ffi::OsStrExt;
    c_string(path.as_os_str().as_bytes(), "the path")
}

/// A path for the library.
#[cfg(not(unix))]
pub(crate) fn c_path(path: &Path) -> Result<CString> {
    let text = path.to_str().ok_or_else(|| {
        let message = format!("the path {} is not Unicode", path.display());
        Error::new(ErrorKind::InvalidValue, message)
    })?;
    c_string(text, "the path")
}

/// Returns the report `what` from a call that fills a buffer, or returns its size for an empty one.
///
/// # Safety
/// The call writes no more bytes than the capacity that it gets.
pub(crate) unsafe fn get_report(
    what: &str,
    call: impl Fn(*const c_char, *mut c_char, usize, *mut usize) -> sys::mnn_status,
) -> Result<String> {
    let what = c_string(what, "the name of the text")?;
    let mut size = 0;
    check(call(what.as_ptr(), std::ptr::null_mut(), 0, &mut size))?;
    let mut bytes = vec![0u8; size];
    let capacity = bytes.len();
    check(call(
        what.as_ptr(),
        bytes.as_mut_ptr().cast(),
        capacity,
        &mut size,
    ))?;
    bytes.truncate(size.saturating_sub(1));
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The shape that a call gives.
pub(crate) fn get_shape(
    call: impl FnOnce(*mut i32, usize, *mut usize) -> sys::mnn_status,
) -> Result<Vec<i32>> {
    let mut dims = [0; crate::MAX_RANK];
    let mut rank = 0;
    check(call(dims.as_mut_ptr(), dims.len(), &mut rank))?;
    Ok(dims[..rank].to_vec())
}
