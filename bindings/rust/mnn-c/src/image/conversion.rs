//! Converts pictures to values of tensors.

use super::{byte_size, check, number, zeros, Filter, ImageView, PixelFormat, Wrap};
use crate::call::initialised;
use crate::codes::Format;
use crate::element::Element;
use crate::error::Result;
use crate::mirror::setters;
use mnn_c_sys as sys;

/// A type of the values that a picture becomes: `f32` or `u8`.
pub trait Value: Element {}

impl Value for f32 {}
impl Value for u8 {}

/// The rules by which the values of an input are taken from a picture: their extents, channels and order, and the
/// places that they come from. The default is the same place, the nearest pixel, mean 0 and scale 1, [`Format::Nchw`].
///
/// ```
/// use mnn_c::image::{resize_matrix, Conversion, Filter, ImageView, PixelFormat};
///
/// # fn main() -> mnn_c::Result<()> {
/// let frame = vec![128u8; 6 * 4 * 3 / 2]; // of a camera
/// let frame = ImageView::new(PixelFormat::Nv21, 6, 4, &frame)?;
/// let input: Vec<f32> = Conversion::new(PixelFormat::Rgb, 3, 2)
///     .matrix(resize_matrix((6, 4), (3, 2)))
///     .mean([127.5; 4])
///     .scale([1.0 / 127.5; 4])
///     .convert(&frame)?;
/// assert_eq!(input.len(), 3 * 2 * 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Conversion {
    format: PixelFormat,
    width: u32,
    height: u32,
    layout: Format,
    filter: Filter,
    wrap: Wrap,
    padding: u8,
    matrix: Option<[f32; 6]>,
    mean: [f32; 4],
    scale: [f32; 4],
}

impl Conversion {
    /// A conversion to values of these channels and extents.
    pub fn new(format: PixelFormat, width: u32, height: u32) -> Self {
        Self {
            format,
            width,
            height,
            layout: Format::Nchw,
            filter: Filter::Nearest,
            wrap: Wrap::Clamp,
            padding: 0,
            matrix: None,
            mean: [0.0; 4],
            scale: [1.0; 4],
        }
    }

    setters! {
        /// The order of the values: [`Format::Nchw`] or [`Format::Nhwc`].
        layout: Format;
        /// The way in which a value between pixels is made.
        filter: Filter;
        /// The values outside of the picture.
        wrap: Wrap;
        /// The value outside of the picture, with [`Wrap::Zero`].
        padding: u8;
        /// Maps the place (x, y) of a pixel of the result to the place in the picture: `m[0] x + m[1] y + m[2]`,
        /// `m[3] x + m[4] y + m[5]`. See [`resize_matrix`].
        matrix: some [f32; 6];
        /// Subtracted from each channel of the result; numbers for other channels are not read. Values of type `u8`
        /// have no mean.
        mean: [f32; 4];
        /// Multiplied with the difference. Values of type `u8` have no scale.
        scale: [f32; 4];
    }

    /// The values of a picture.
    ///
    /// Fails with [`ErrorKind::BadRange`](crate::ErrorKind::BadRange) (extents),
    /// [`ErrorKind::InvalidValue`](crate::ErrorKind::InvalidValue) (a layout that is neither NCHW nor NHWC; a matrix,
    /// mean or scale that is not finite) and [`ErrorKind::NotSupported`](crate::ErrorKind::NotSupported) (values in a
    /// YUV format, a YUV picture repeated).
    pub fn convert<T: Value>(&self, source: &ImageView<'_>) -> Result<Vec<T>> {
        let mut values = zeros(byte_size(self.format, self.width, self.height, 0)?)?;
        self.convert_into(source, &mut values)?;
        Ok(values)
    }

    /// [`convert`](Self::convert) into memory of the caller. Also fails with
    /// [`ErrorKind::BufferTooSmall`](crate::ErrorKind::BufferTooSmall); elements behind the values are not changed.
    pub fn convert_into<T: Value>(&self, source: &ImageView<'_>, values: &mut [T]) -> Result<()> {
        let source = source.to_c()?;
        let options = self.options()?;
        // SAFETY: the function initialises this struct.
        let mut result: sys::mnn_image_values_t = unsafe { initialised(sys::mnn_image_values_init, check) }?;
        result.format = self.format.code();
        result.width = number(self.width);
        result.height = number(self.height);
        result.r#type = T::TYPE.code();
        result.layout = self.layout.code();
        result.data = values.as_mut_ptr().cast();
        result.bytes = std::mem::size_of_val(values);
        // SAFETY: picture and values lie in their memory, of which the latter is not borrowed elsewhere.
        check(unsafe { sys::mnn_image_convert(&options, &source, &result) })
    }

    fn options(&self) -> Result<sys::mnn_image_options_t> {
        // SAFETY: the function initialises this struct.
        let mut options: sys::mnn_image_options_t =
            unsafe { initialised(sys::mnn_image_options_init, check) }?;
        options.filter = self.filter.code();
        options.wrap = self.wrap.code();
        options.padding = self.padding.into();
        if let Some(matrix) = self.matrix {
            options.has_matrix = 1;
            options.matrix = matrix;
        }
        options.mean = self.mean;
        options.scale = self.scale;
        options.has_scale = 1;
        Ok(options)
    }
}

/// The matrix for [`Conversion::matrix`] that resizes from one (width, height) to another, with equal centres.
/// Shrinking skips pixels, while [`ImageView::resize`] averages all of them.
pub fn resize_matrix(from: (u32, u32), to: (u32, u32)) -> [f32; 6] {
    let (x, y) = (from.0 as f32 / to.0 as f32, from.1 as f32 / to.1 as f32);
    [x, 0.0, (x - 1.0) / 2.0, 0.0, y, (y - 1.0) / 2.0]
}
