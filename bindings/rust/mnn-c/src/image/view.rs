//! Pictures in memory of the caller, and their parts.

use super::{check, number, zeros, PixelFormat};
use crate::call::initialised;
use crate::error::{Error, ErrorKind, Result};
use mnn_c_sys as sys;
use std::fmt;
use std::os::raw::c_void;

/// The description of a picture, without its pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub format: PixelFormat,
    pub width: u32,
    pub height: u32,
    pub stride: usize,
}

impl Shape {
    /// The struct of the C interface, with the pixels in that memory.
    pub fn to_c(self, pixels: *const u8, bytes: usize) -> Result<sys::mnn_image_t> {
        // SAFETY: the function initialises this struct.
        let mut image = unsafe { initialised(sys::mnn_image_init, check) }?;
        image.format = self.format.code();
        image.width = number(self.width);
        image.height = number(self.height);
        image.stride = self.stride;
        image.pixels = pixels as *mut c_void;
        image.bytes = bytes;
        Ok(image)
    }

    /// The bytes that the pixels take; see [`byte_size`].
    pub fn byte_size(self) -> Result<usize> {
        let image = self.to_c(std::ptr::null(), 0)?;
        let mut bytes = 0;
        // SAFETY: both pointers are valid; the pixels are not read.
        check(unsafe { sys::mnn_image_byte_size(&image, &mut bytes) })?;
        Ok(bytes)
    }

    /// Returns the number of bytes that the picture takes; fails when fewer are available.
    fn check_pixels(self, available: usize) -> Result<usize> {
        let needed = self.byte_size()?;
        if needed <= available {
            return Ok(needed);
        }
        let message = format!("the picture takes {needed} bytes, its memory has {available}");
        Err(Error::new(ErrorKind::BufferTooSmall, message))
    }

    /// Returns a rectangle of the picture, and its offset in `pixels`.
    fn crop(self, pixels: &[u8], x: u32, y: u32, width: u32, height: u32) -> Result<(Self, usize)> {
        let image = self.to_c(pixels.as_ptr(), pixels.len())?;
        let mut part = image;
        let place = (number(x), number(y), number(width), number(height));
        // SAFETY: the call reads only the description.
        check(unsafe { sys::mnn_image_crop(&image, place.0, place.1, place.2, place.3, &mut part) })?;
        let offset = part.pixels as usize - image.pixels as usize;
        let shape = Self {
            width,
            height,
            stride: part.stride,
            ..self
        };
        Ok((shape, offset))
    }

    fn stride(self) -> usize {
        match self.stride {
            0 => self.width as usize * self.format.channels().max(1),
            given => given,
        }
    }
}

/// The bytes that the pixels of a picture take. `stride` is the number of bytes from one row to the next; 0: rows are
/// contiguous. Rows of the colour of NV21 and NV12 have the same number, rounded up to an even number, those of I420
/// half of that.
///
/// Fails with [`ErrorKind::InvalidValue`] (no such format) and [`ErrorKind::BadRange`] (an extent that is not 1 to
/// [`MAX_EXTENT`](super::MAX_EXTENT), a stride below a row or above 2^30).
pub fn byte_size(format: PixelFormat, width: u32, height: u32, stride: usize) -> Result<usize> {
    Shape {
        format,
        width,
        height,
        stride,
    }
    .byte_size()
}

macro_rules! accessors {
    () => {
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

        /// Bytes from one row to the next.
        pub fn stride(&self) -> usize {
            self.shape.stride()
        }
    };
}

/// A picture in borrowed memory.
#[derive(Clone, Copy)]
pub struct ImageView<'a> {
    shape: Shape,
    pixels: &'a [u8],
}

impl<'a> ImageView<'a> {
    /// A picture whose rows are contiguous. Fails like [`byte_size`], and with [`ErrorKind::BufferTooSmall`].
    pub fn new(format: PixelFormat, width: u32, height: u32, pixels: &'a [u8]) -> Result<Self> {
        Self::with_stride(format, width, height, 0, pixels)
    }

    /// A picture with `stride` bytes from one row to the next, as for [`byte_size`].
    pub fn with_stride(
        format: PixelFormat,
        width: u32,
        height: u32,
        stride: usize,
        pixels: &'a [u8],
    ) -> Result<Self> {
        let shape = Shape {
            format,
            width,
            height,
            stride,
        };
        let bytes = shape.check_pixels(pixels.len())?;
        Ok(Self::of(shape, &pixels[..bytes]))
    }

    /// Makes a view of pixels that were already checked.
    pub(super) fn of(shape: Shape, pixels: &'a [u8]) -> Self {
        Self { shape, pixels }
    }

    accessors!();

    /// The bytes from the first pixel to the last one.
    pub fn pixels(&self) -> &'a [u8] {
        self.pixels
    }

    /// A view of the rectangle with the upper left pixel (x, y). Fails with [`ErrorKind::BadRange`] (a rectangle that
    /// is empty or not inside of the picture) and [`ErrorKind::NotSupported`] (a YUV format).
    pub fn crop(&self, x: u32, y: u32, width: u32, height: u32) -> Result<Self> {
        let (shape, offset) = self.shape.crop(self.pixels, x, y, width, height)?;
        Ok(Self::of(shape, &self.pixels[offset..offset + shape.byte_size()?]))
    }

    /// [`resize`](Self::resize) into pixels of the caller, to the extents of `target`. Also fails with
    /// [`ErrorKind::BadType`] where the formats differ.
    pub fn resize_into(&self, target: &mut ImageViewMut<'_>) -> Result<()> {
        let (source, target) = (self.to_c()?, target.describe()?);
        // SAFETY: both pictures lie in their memory, of which the target's is not borrowed elsewhere.
        check(unsafe { sys::mnn_image_resize(&source, &target) })
    }

    /// The bytes of a PNG file. Fails with [`ErrorKind::NotSupported`] (a YUV format) and [`ErrorKind::LimitExceeded`]
    /// (more than [`MAX_PIXELS`](super::MAX_PIXELS)).
    pub fn encode_png(&self) -> Result<Vec<u8>> {
        let image = self.to_c()?;
        let mut size = 0;
        // SAFETY: the picture lies in its memory; a capacity of 0 asks for the size.
        check(unsafe { sys::mnn_image_encode_png(&image, std::ptr::null_mut(), 0, &mut size) })?;
        let mut file = zeros::<u8>(size)?;
        // SAFETY: the buffer has that many bytes.
        check(unsafe { sys::mnn_image_encode_png(&image, file.as_mut_ptr().cast(), file.len(), &mut size) })?;
        file.truncate(size);
        Ok(file)
    }

    /// The struct of the C interface; no call writes to pixels that it gets from here.
    pub(super) fn to_c(self) -> Result<sys::mnn_image_t> {
        self.shape.to_c(self.pixels.as_ptr(), self.pixels.len())
    }
}

/// A picture in borrowed memory, to be written.
pub struct ImageViewMut<'a> {
    shape: Shape,
    pixels: &'a mut [u8],
}

impl<'a> ImageViewMut<'a> {
    /// Like [`ImageView::new`].
    pub fn new(format: PixelFormat, width: u32, height: u32, pixels: &'a mut [u8]) -> Result<Self> {
        Self::with_stride(format, width, height, 0, pixels)
    }

    /// Like [`ImageView::with_stride`].
    pub fn with_stride(
        format: PixelFormat,
        width: u32,
        height: u32,
        stride: usize,
        pixels: &'a mut [u8],
    ) -> Result<Self> {
        let shape = Shape {
            format,
            width,
            height,
            stride,
        };
        let bytes = shape.check_pixels(pixels.len())?;
        Ok(Self::of(shape, &mut pixels[..bytes]))
    }

    /// Makes a view of pixels that were already checked.
    pub(super) fn of(shape: Shape, pixels: &'a mut [u8]) -> Self {
        Self { shape, pixels }
    }

    accessors!();

    /// The bytes from the first pixel to the last one.
    pub fn pixels(&mut self) -> &mut [u8] {
        self.pixels
    }

    /// The same picture, to be read.
    pub fn as_view(&self) -> ImageView<'_> {
        ImageView::of(self.shape, self.pixels)
    }

    /// Like [`ImageView::crop`].
    pub fn crop(&mut self, x: u32, y: u32, width: u32, height: u32) -> Result<ImageViewMut<'_>> {
        let (shape, offset) = self.shape.crop(self.pixels, x, y, width, height)?;
        let end = offset + shape.byte_size()?;
        Ok(ImageViewMut::of(shape, &mut self.pixels[offset..end]))
    }

    /// Decodes the bytes of a file into these pixels, like [`Image::decode`](super::Image::decode). Also fails with
    /// [`ErrorKind::ComputeSize`] where the file has other extents.
    pub fn decode(&mut self, file: &[u8]) -> Result<()> {
        let image = self.describe()?;
        // SAFETY: the picture lies in its memory, which is not borrowed elsewhere, and the file in its own.
        check(unsafe { sys::mnn_image_decode(file.as_ptr().cast(), file.len(), &image) })
    }

    /// The struct of the C interface.
    fn describe(&mut self) -> Result<sys::mnn_image_t> {
        self.shape.to_c(self.pixels.as_mut_ptr(), self.pixels.len())
    }
}

impl fmt::Debug for ImageView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shape.fmt(f)
    }
}

impl fmt::Debug for ImageViewMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shape.fmt(f)
    }
}
