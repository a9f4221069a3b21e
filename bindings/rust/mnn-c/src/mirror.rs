//! Macros that mirror the C interface: structs that the library fills, and builders of structs that it reads.

use std::borrow::Cow;
use std::ffi::CStr;
use std::os::raw::c_char;
use std::time::Duration;

/// A value of a field of the C interface in the type that it has in Rust. An `Option` is
/// `None` where the library does not know the value.
pub(crate) trait FromC<T> {
    /// # Safety
    /// A pointer is NULL, or points to a string that lives as long as the value.
    unsafe fn from_c(value: &T) -> Self;
}

macro_rules! conversions {
    ($($from:ty => $to:ty: |$value:ident| $result:expr;)*) => {$(
        impl FromC<$from> for $to {
            unsafe fn from_c($value: &$from) -> Self {
                $result
            }
        }
    )*};
}

conversions! {
    u32 => u32: |value| *value;
    i32 => i32: |value| *value;
    u64 => u64: |value| *value;
    i64 => i64: |value| *value;
    [u8; 16] => [u8; 16]: |value| *value;
    i32 => bool: |value| *value != 0;
    i32 => Option<bool>: |value| Some(*value == 1).filter(|_| *value >= 0);
    i32 => u32: |value| (*value).max(0) as u32;
    i64 => Option<u64>: |value| u64::try_from(*value).ok().filter(|&value| value > 0);
    i32 => Option<usize>: |value| usize::try_from(*value).ok();
    f64 => Option<f64>: |value| Some(*value).filter(|value| *value >= 0.0);
    u64 => Duration: |nanoseconds| Duration::from_nanos(*nanoseconds);
}

impl<const N: usize> FromC<[c_char; N]> for String {
    unsafe fn from_c(field: &[c_char; N]) -> Self {
        let bytes: Vec<u8> = field.iter().map(|&c| c as u8).take_while(|&c| c != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl<const N: usize> FromC<[c_char; N]> for Vec<String> {
    unsafe fn from_c(field: &[c_char; N]) -> Self {
        // SAFETY: the field is an array and holds no pointer.
        let words = unsafe { String::from_c(field) };
        words.split_whitespace().map(String::from).collect()
    }
}

impl<'a> FromC<*const c_char> for Option<Cow<'a, str>> {
    unsafe fn from_c(text: &*const c_char) -> Self {
        // SAFETY: the caller keeps the promise of this function. Names come from the model's file, whose bytes may not
        // be UTF-8.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(*text) }.to_string_lossy())
    }
}

impl<'a> FromC<*const c_char> for Cow<'a, str> {
    unsafe fn from_c(text: &*const c_char) -> Self {
        // SAFETY: the caller keeps the promise of this function.
        unsafe { Option::from_c(text) }.unwrap_or_default()
    }
}

impl FromC<*const c_char> for String {
    unsafe fn from_c(text: &*const c_char) -> Self {
        // SAFETY: the caller keeps the promise of this function.
        unsafe { Cow::from_c(text) }.into_owned()
    }
}

/// Declares a struct with the fields of a struct of the C interface, which have the same names, or the names behind
/// `=`.
macro_rules! mirror {
    (
        $(#[$meta:meta])*
        $name:ident $(<$life:lifetime>)? = $c:ident {
            $($(#[$doc:meta])* $field:ident: $type:ty $(= $source:tt)?,)*
        }
    ) => {
        $(#[$meta])*
        #[non_exhaustive]
        pub struct $name $(<$life>)? {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $(<$life>)? crate::mirror::FromC<mnn_c_sys::$c> for $name $(<$life>)? {
            unsafe fn from_c(info: &mnn_c_sys::$c) -> Self {
                // SAFETY: the caller keeps the promise of this function.
                unsafe { Self { $($field: crate::mirror::FromC::from_c(mirror!(@field info $field $($source)?)),)* } }
            }
        }
    };
    (@field $info:ident $field:ident) => { &$info.$field };
    (@field $info:ident $field:ident $source:tt) => { &$info.$source };
}
pub(crate) use mirror;

/// Declares methods of a builder. Each stores its argument in the field of its name: as it is, in `Some` (`some`), as a
/// `String` (`text`), as a list of strings (`names`), or as a clone (`shared`).
macro_rules! setters {
    () => {};
    ($(#[$doc:meta])* $name:ident: some $type:ty; $($rest:tt)*) => {
        setters! { @method $(#[$doc])* $name: $type, Some($name); $($rest)* }
    };
    ($(#[$doc:meta])* $name:ident: text; $($rest:tt)*) => {
        setters! { @method $(#[$doc])* $name: impl Into<String>, Some($name.into()); $($rest)* }
    };
    ($(#[$doc:meta])* $name:ident: names; $($rest:tt)*) => {
        setters! { @method $(#[$doc])* $name: impl IntoIterator<Item = impl Into<String>>,
            $name.into_iter().map(Into::into).collect(); $($rest)* }
    };
    ($(#[$doc:meta])* $name:ident: shared $type:ty; $($rest:tt)*) => {
        setters! { @method $(#[$doc])* $name: &$type, Some($name.clone()); $($rest)* }
    };
    ($(#[$doc:meta])* $name:ident: $type:ty; $($rest:tt)*) => {
        setters! { @method $(#[$doc])* $name: $type, $name; $($rest)* }
    };
    (@method $(#[$doc:meta])* $name:ident: $type:ty, $value:expr; $($rest:tt)*) => {
        $(#[$doc])*
        pub fn $name(mut self, $name: $type) -> Self {
            self.$name = $value;
            self
        }
        setters! { $($rest)* }
    };
}
pub(crate) use setters;
