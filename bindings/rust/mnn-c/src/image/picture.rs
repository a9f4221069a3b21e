//! Pictures with their own pixels, and files.

use super::view::Shape;
use super::{check, zeros, ImageView, ImageViewMut, PixelFormat, MAX_EXTENT, MAX_PIXELS};
use crate::call::initialised;
use crate::error::{Error, ErrorKind, Result};
use mnn_c_sys as sys;
use std::fmt;

/// A description of the picture in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageInfo {
    /// [`PixelFormat::Gray`], `Rgb` or `Rgba`.
    pub format: PixelFormat,
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// Reads the description of the picture from the bytes of a file (PNG, JPEG, BMP, GIF, TGA, PGM or PPM).
///
/// Fails with [`ErrorKind::BadFormat`] (no picture of a known kind, or a damaged one), [`ErrorKind::Truncated`] (the
/// file ends too early) and [`ErrorKind::LimitExceeded`] (more than [`MAX_PIXELS`], an extent above [`MAX_EXTENT`], or
/// a file above 2^29 bytes).
pub fn info(file: &[u8]) -> Result<ImageInfo> {
    // SAFETY: the function initialises this struct.
    let mut image = unsafe { initialised(sys::mnn_image_init, check) }?;
    // SAFETY: the file lies in its memory.
    check(unsafe { sys::mnn_image_info(file.as_ptr().cast(), file.len(), &mut image) })?;
    Ok(ImageInfo {
        format: PixelFormat::from_code(image.format),
        width: image.width.try_into().unwrap_or(0),
        height: image.height.try_into().unwrap_or(0),
    })
}

/// A picture with its own pixels, row after row.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    shape: Shape,
    pixels: Vec<u8>,
}

impl Image {
    /// A picture whose bytes are 0. Fails like [`byte_size`](super::byte_size).
    pub fn new(format: PixelFormat, width: u32, height: u32) -> Result<Self> {
        let shape = tight(format, width, height);
        let pixels = zeros(shape.byte_size()?)?;
        Ok(Self { shape, pixels })
    }

    /// A picture with the given bytes. Fails like [`byte_size`](super::byte_size), and with [`ErrorKind::InputData`]
    /// where the number of bytes is wrong.
    pub fn from_pixels(format: PixelFormat, width: u32, height: u32, pixels: Vec<u8>) -> Result<Self> {
        let shape = tight(format, width, height);
        let needed = shape.byte_size()?;
        if pixels.len() != needed {
            let message = format!("the picture has {needed} bytes, not {}", pixels.len());
            return Err(Error::new(ErrorKind::InputData, message));
        }
        Ok(Self { shape, pixels })
    }

    /// Decodes the bytes of a file. The format may be any but the YUV ones ([`ErrorKind::NotSupported`]): gray becomes
    /// three equal colours, colours become their brightness (77 R + 150 G + 29 B, divided by 256), an alpha that the
    /// file lacks is 255, and one that the result lacks is dropped. Also fails like [`info`].
    pub fn decode(file: &[u8], format: PixelFormat) -> Result<Self> {
        let found = info(file)?;
        let mut image = Self::new(format, found.width, found.height)?;
        image.view_mut().decode(file)?;
        Ok(image)
    }

    /// The order of the bytes of a pixel.
    pub fn format(&self) -> PixelFormat {
        self.shape.format
    }

    /// Pixels of a row.
    pub fn width(&self) -> u32 {
        self.shape.width
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.shape.height
    }

    /// The bytes, row after row.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The bytes, row after row.
    pub fn into_pixels(self) -> Vec<u8> {
        self.pixels
    }

    /// The picture, to be read.
    pub fn view(&self) -> ImageView<'_> {
        ImageView::of(self.shape, &self.pixels)
    }

    /// The picture, to be written.
    pub fn view_mut(&mut self) -> ImageViewMut<'_> {
        ImageViewMut::of(self.shape, &mut self.pixels)
    }
}

impl ImageView<'_> {
    /// The picture with other extents. Every pixel contributes: shrinking averages with Mitchell's filter, enlarging
    /// interpolates with Catmull and Rom's, and equal extents copy. Fails with [`ErrorKind::BadRange`] (extents),
    /// [`ErrorKind::NotSupported`] (a YUV format) and [`ErrorKind::LimitExceeded`] (more than [`MAX_PIXELS`]).
    pub fn resize(&self, width: u32, height: u32) -> Result<Image> {
        if u64::from(width) * u64::from(height) > MAX_PIXELS && width.max(height) <= MAX_EXTENT {
            let message = format!("the result is {width} x {height}, which is more than {MAX_PIXELS} pixels");
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        let mut result = Image::new(self.format(), width, height)?;
        self.resize_into(&mut result.view_mut())?;
        Ok(result)
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shape.fmt(f)
    }
}

/// The shape of a picture whose rows are contiguous.
fn tight(format: PixelFormat, width: u32, height: u32) -> Shape {
    Shape {
        format,
        width,
        height,
        stride: 0,
    }
}
