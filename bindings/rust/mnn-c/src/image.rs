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
//! - An [`Image`] has pixels of its own. An [`ImageView`] reads pixels that lie elsewhere, an [`ImageViewMut`] writes them.
//! - A [`Conversion`] has the filters, matrices, means and scales of the official runtime's ImageProcess, and its pixels; it
//!   also reads the YUV frames of a camera.
//! - A [`Detector`] finds boxes in the outputs of a net.
//! - All of it may be called from any thread. Errors are those of the crate.

mod boxes;
mod conversion;
mod picture;
mod view;

pub use boxes::{Detector, FoundBox, Output};
pub use conversion::{resize_matrix, Conversion, Value};
pub use picture::{info, Image, ImageInfo};
pub use view::{byte_size, ImageView, ImageViewMut};

use crate::codes::codes;
use crate::element::Element;
use crate::error::{Error, ErrorKind, Result};
use mnn_c_sys as sys;
use std::ffi::CStr;

codes! {
    /// The order of the bytes of a pixel. The YUV formats, which only a [`Conversion`] reads, have a plane of
    /// brightness, a byte for each pixel, followed by a quarter as many pairs of colour; odd sizes are rounded up for
    /// these.
    PixelFormat {
        /// Red, green, blue, alpha.
        Rgba = MNN_IMAGE_RGBA,
        /// Red, green, blue.
        Rgb = MNN_IMAGE_RGB,
        /// Blue, green, red.
        Bgr = MNN_IMAGE_BGR,
        /// Brightness.
        Gray = MNN_IMAGE_GRAY,
        /// Blue, green, red, alpha.
        Bgra = MNN_IMAGE_BGRA,
        /// YUV: V and U after one another.
        Nv21 = MNN_IMAGE_NV21,
        /// YUV: U and V after one another.
        Nv12 = MNN_IMAGE_NV12,
        /// YUV: a plane of U, then one of V.
        I420 = MNN_IMAGE_I420,
    }
}

impl PixelFormat {
    /// The values of a pixel; 0 for YUV formats and unknown ones.
    pub const fn channels(self) -> usize {
        match self {
            Self::Rgba | Self::Bgra => 4,
            Self::Rgb | Self::Bgr => 3,
            Self::Gray => 1,
            _ => 0,
        }
    }
}

codes! {
    /// The way in which a value between pixels is made. YUV pictures are always sampled by the nearest pixel.
    Filter {
        /// The nearest pixel.
        Nearest = MNN_IMAGE_NEAREST,
        /// Linear between four pixels.
        Bilinear = MNN_IMAGE_BILINEAR,
        /// Catmull and Rom's filter over 4 x 4 pixels.
        Bicubic = MNN_IMAGE_BICUBIC,
    }
}

codes! {
    /// The values outside of a picture.
    Wrap {
        /// The nearest pixel.
        Clamp = MNN_IMAGE_CLAMP,
        /// The value of [`Conversion::padding`].
        Zero = MNN_IMAGE_ZERO,
        /// The picture repeated; not for YUV formats.
        Repeat = MNN_IMAGE_REPEAT,
    }
}

codes! {
    /// The meaning of a number in a row that describes a box.
    BoxColumn {
        /// The left edge.
        X1 = MNN_IMAGE_BOX_X1,
        /// The upper edge.
        Y1 = MNN_IMAGE_BOX_Y1,
        /// The right edge.
        X2 = MNN_IMAGE_BOX_X2,
        /// The lower edge.
        Y2 = MNN_IMAGE_BOX_Y2,
        /// The horizontal place of the centre.
        CentreX = MNN_IMAGE_BOX_CENTRE_X,
        /// The vertical place of the centre.
        CentreY = MNN_IMAGE_BOX_CENTRE_Y,
        /// The horizontal extent.
        Width = MNN_IMAGE_BOX_WIDTH,
        /// The vertical extent.
        Height = MNN_IMAGE_BOX_HEIGHT,
        /// The score, or a factor of it.
        Score = MNN_IMAGE_BOX_SCORE,
        /// The class.
        Class = MNN_IMAGE_BOX_CLASS,
        /// This and all remaining numbers of the row: a score for each class.
        Classes = MNN_IMAGE_BOX_CLASSES,
        /// A number that is not read.
        Unused = MNN_IMAGE_BOX_OTHER,
    }
}

codes! {
    /// The unit of coordinates.
    BoxUnit {
        /// Fractions of the input where no coordinate exceeds 2, else pixels.
        Guessed = MNN_IMAGE_UNIT_GUESSED,
        /// Pixels of the input.
        Pixels = MNN_IMAGE_UNIT_PIXELS,
        /// Fractions of the input.
        Fractions = MNN_IMAGE_UNIT_FRACTIONS,
    }
}

/// The most boxes that a [`Detector`] finds in a picture.
pub const MAX_BOXES: usize = sys::MNN_IMAGE_MAX_BOXES as usize;

/// The largest width and height of a picture.
pub const MAX_EXTENT: u32 = sys::MNN_IMAGE_MAX_EXTENT as u32;

/// The most pixels of a picture in a file, and of one that is resized.
pub const MAX_PIXELS: u64 = sys::MNN_IMAGE_MAX_PIXELS as u64;

/// Returns the result for a status of libmnn_c_image, right after the call.
fn check(status: sys::mnn_status) -> Result<()> {
    if status == sys::MNN_OK {
        return Ok(());
    }
    // SAFETY: never NULL, valid until this thread's next call.
    let message = unsafe { CStr::from_ptr(sys::mnn_image_last_error()) };
    Err(Error::new(
        ErrorKind::from_code(status),
        message.to_string_lossy(),
    ))
}

/// Converts a width, a height or a place for the library, which refuses those that are too large.
fn number(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}

/// Returns so many zeros.
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
