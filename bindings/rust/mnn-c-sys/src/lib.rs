//! The declarations of `mnn_c.h`, the C interface of libmnn_c, as they are there: names, numbers, layouts.
//!
//! The header is the manual: what a function does, returns and demands of threads is said there. The crate
//! `mnn-c` puts a safe interface over these declarations.
//!
//! The feature `image` adds those of `mnn_c_image.h`, and links libmnn_c_image; `onnx` those of `mnn_c_onnx.h`, and links
//! libmnn_c_onnx.
//!
//! Enumeration constants are `i32`, as they cross the interface; `MNN_MAX_RANK`, `MNN_MAX_THREADS` and `MNN_MAX_PATHS` too.

#![deny(missing_docs)]
#![allow(non_camel_case_types)]

mod config;
mod constants;
mod functions;
#[cfg(feature = "image")]
mod image;
#[cfg(feature = "onnx")]
mod onnx;
mod operators;
mod properties;
mod runs;
mod types;

pub use config::*;
pub use constants::*;
pub use functions::*;
#[cfg(feature = "image")]
pub use image::*;
#[cfg(feature = "onnx")]
pub use onnx::*;
pub use operators::*;
pub use properties::*;
pub use runs::*;
pub use types::*;
