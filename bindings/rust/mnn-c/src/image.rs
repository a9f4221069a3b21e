//! Pictures as inputs of nets: decoded, cropped, resized, and converted into the values of tensors. The feature `image`
//! adds this module, which links libmnn_c_image.
//!
//! ```
//! use mnn_c::image::{Conversion, Image, PixelFormat};
//!
//! # fn main() -> mnn_c::Result<()> {
//! # let file = b"P5 4 2 255\n\x00\x10\x20\x30\x40\x50\x60\x70";
//! let photo = Image::decode(file, PixelFormat::Rgb)?;
//! let part = photo.view().crop(1, 0, 3, 2)?; // copies nothing
//! let small = part.resize(8, 8)?; // every pixel counts
//! let input: Vec<f32> = Conversion::new(PixelFormat::Bgr, 8, 8)
//!     .mean([104.0, 117.0, 123.0, 0.0])
//!     .scale([1.0 / 58.0; 4])
//!     .convert(&small.view())?; // for TensorMut::write with Format::Nchw
//! assert_eq!(input.len(), 3 * 8 * 8);
//! # Ok(())
//! # }
//! ```
//!
//! - An [`Image`] has pixels of its own. An [`ImageView`] reads pixels that lie elsewhere, an [`ImageViewMut`] writes
//!   them.
//! - A [`Conversion`] has the filters, matrices, means and scales of the official runtime's ImageProcess, and its
//!   pixels; it also reads the YUV frames of a camera.
//! - A [`Detector`] finds boxes in the outputs of a net.
//! - All of it may be called from any thread. Errors are those of the crate.

mod boxes;
mod conversion;
mod enums;
mod picture;
mod view;

pub use boxes::{Detector, FoundBox, Output};
pub use conversion::{resize_matrix, Conversion, Value};
pub use enums::*;
pub use picture::{info, Image, ImageInfo};
pub use view::{byte_size, ImageView, ImageViewMut};

use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use mnn_c_sys as sys;
use std::ffi::CStr;

impl PixelFormat {
    /// The number of values of a pixel; 0 for YUV formats and unknown ones.
    pub const fn channels(self) -> usize {
        match self {
            Self::Rgba | Self::Bgra => 4,
            Self::Rgb | Self::Bgr => 3,
            Self::Gray => 1,
            _ => 0,
        }
    }
}

/// The maximum number of boxes that a [`Detector`] finds in a picture.
pub const MAX_BOXES: usize = sys::MNN_IMAGE_MAX_BOXES as usize;

/// The largest width and height of a picture.
pub const MAX_EXTENT: u32 = sys::MNN_IMAGE_MAX_EXTENT as u32;

/// The maximum number of pixels of a picture in a file, and of a resized picture.
pub const MAX_PIXELS: u64 = sys::MNN_IMAGE_MAX_PIXELS as u64;

/// Returns the result for a status of libmnn_c_image, right after the call.
fn check(status: sys::mnn_status) -> Result<()> {
    if status == sys::MNN_OK {
        return Ok(());
    }
    // SAFETY: the string is never NULL, and valid until this thread's next call.
    let message = unsafe { CStr::from_ptr(sys::mnn_image_last_error()) };
    Err(Error::new(
        ErrorKind::from_code(status),
        message.to_string_lossy(),
    ))
}

/// Converts a width, a height or a position for the library, which refuses values that are too large.
fn number(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

/// Returns `count` zeros, or an error where there is no memory for them.
fn zeros<T: Element>(count: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| {
        Error::new(
            ErrorKind::OutOfMemory,
            format!("there is no memory for {count} values"),
        )
    })?;
    values.resize(count, T::default());
    Ok(values)
}
