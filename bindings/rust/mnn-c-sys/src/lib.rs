//! The declarations of `mnn_c.h`, the C interface of libmnn_c, unchanged: names, numbers, layouts.
//!
//! The header is the manual: it says what a function does, returns and demands of threads. The crate `mnn-c` puts a
//! safe interface over these declarations.
//!
//! The feature `image` adds the declarations of `mnn_c_image.h`, and links libmnn_c_image; `onnx` adds those of
//! `mnn_c_onnx.h`, and links libmnn_c_onnx.
//!
//! Enumeration constants are `i32`, as they cross the interface; `MNN_MAX_RANK`, `MNN_MAX_THREADS` and `MNN_MAX_PATHS`
//! too.

#![deny(missing_docs)]
#![allow(non_camel_case_types)]

// Generated: bindings/generate.py sets their lines.
#[rustfmt::skip]
mod constants;
#[rustfmt::skip]
mod functions;
#[cfg(feature = "image")]
#[rustfmt::skip]
mod image;
#[cfg(feature = "onnx")]
#[rustfmt::skip]
mod onnx;
#[rustfmt::skip]
mod types;

pub use constants::*;
pub use functions::*;
#[cfg(feature = "image")]
pub use image::*;
#[cfg(feature = "onnx")]
pub use onnx::*;
pub use types::*;
