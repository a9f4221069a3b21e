//! The declarations of `mnn_c_image.h`, the interface of libmnn_c_image: pictures as inputs of nets.

use crate::types::mnn_status;
use std::os::raw::{c_char, c_void};

// Pixel formats
/// Red, green, blue, alpha.
pub const MNN_IMAGE_RGBA: i32 = 0;
/// Red, green, blue.
pub const MNN_IMAGE_RGB: i32 = 1;
/// Blue, green, red.
pub const MNN_IMAGE_BGR: i32 = 2;
/// Brightness.
pub const MNN_IMAGE_GRAY: i32 = 3;
/// Blue, green, red, alpha.
pub const MNN_IMAGE_BGRA: i32 = 4;
/// A plane of brightness, then pairs of V and U.
pub const MNN_IMAGE_NV21: i32 = 11;
/// A plane of brightness, then pairs of U and V.
pub const MNN_IMAGE_NV12: i32 = 12;
/// Planes of brightness, U and V.
pub const MNN_IMAGE_I420: i32 = 13;

/// The largest width and height of a picture.
pub const MNN_IMAGE_MAX_EXTENT: i32 = 65535;
/// The most pixels that a file may have.
pub const MNN_IMAGE_MAX_PIXELS: i32 = 67108864;

// How a value between pixels is made
/// The nearest pixel.
pub const MNN_IMAGE_NEAREST: i32 = 0;
/// Linear between four pixels.
pub const MNN_IMAGE_BILINEAR: i32 = 1;
/// Catmull and Rom's filter over 4 x 4 pixels.
pub const MNN_IMAGE_BICUBIC: i32 = 2;

// What lies outside of a picture
/// The nearest pixel.
pub const MNN_IMAGE_CLAMP: i32 = 0;
/// The value `padding`.
pub const MNN_IMAGE_ZERO: i32 = 1;
/// The picture again.
pub const MNN_IMAGE_REPEAT: i32 = 2;

/// A picture in memory of the caller. `mnn_image_init` prepares it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_image_t {
    /// The size of this struct, written by the init function.
    pub struct_size: usize,
    /// `MNN_IMAGE_RGBA` and so on.
    pub format: i32,
    /// 1 to `MNN_IMAGE_MAX_EXTENT`.
    pub width: i32,
    /// 1 to `MNN_IMAGE_MAX_EXTENT`.
    pub height: i32,
    /// 0.
    pub reserved: i32,
    /// Bytes from one row to the next; 0: rows follow each other at once.
    pub stride: usize,
    /// The first row, which is the upper one.
    pub pixels: *mut c_void,
    /// The bytes of the memory at `pixels`.
    pub bytes: usize,
}

/// How values are taken from a picture. `mnn_image_options_init` prepares it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_image_options_t {
    /// The size of this struct, written by the init function.
    pub struct_size: usize,
    /// `MNN_IMAGE_NEAREST`, `MNN_IMAGE_BILINEAR` or `MNN_IMAGE_BICUBIC`.
    pub filter: i32,
    /// `MNN_IMAGE_CLAMP`, `MNN_IMAGE_ZERO` or `MNN_IMAGE_REPEAT`.
    pub wrap: i32,
    /// Of `MNN_IMAGE_ZERO`: 0 to 255.
    pub padding: i32,
    /// 0: `matrix` is not read, the result has the place of the picture.
    pub has_matrix: i32,
    /// From the place of a pixel of the result to one in the picture.
    pub matrix: [f32; 6],
    /// Subtracted from the values of each channel of the result.
    pub mean: [f32; 4],
    /// Multiplied with the difference.
    pub scale: [f32; 4],
    /// 0: the scale is 1.
    pub has_scale: i32,
    /// 0.
    pub reserved: i32,
}

/// The values that a picture becomes, in memory of the caller. `mnn_image_values_init` prepares it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mnn_image_values_t {
    /// The size of this struct, written by the init function.
    pub struct_size: usize,
    /// `MNN_IMAGE_RGBA`, `RGB`, `BGR`, `GRAY` or `BGRA`: the channels.
    pub format: i32,
    /// 1 to `MNN_IMAGE_MAX_EXTENT`.
    pub width: i32,
    /// 1 to `MNN_IMAGE_MAX_EXTENT`.
    pub height: i32,
    /// `MNN_TYPE_FLOAT32` (also 0) or `MNN_TYPE_UINT8`.
    pub r#type: i32,
    /// `MNN_FORMAT_NCHW` or `MNN_FORMAT_NHWC`.
    pub layout: i32,
    /// 0.
    pub reserved: i32,
    /// Where the values go.
    pub data: *mut c_void,
    /// The bytes of the memory at `data`.
    pub bytes: usize,
}

extern "C" {
    /// Prepares a picture: `MNN_IMAGE_RGBA` without pixels.
    pub fn mnn_image_init(image: *mut mnn_image_t, size: usize) -> mnn_status;
    /// The bytes that the pixels of a picture take, by its format, extents and stride.
    pub fn mnn_image_byte_size(image: *const mnn_image_t, bytes: *mut usize) -> mnn_status;
    /// The sentence of the last error on this thread.
    pub fn mnn_image_last_error() -> *const c_char;
    /// Reads from the bytes of a file what picture it holds.
    pub fn mnn_image_info(file: *const c_void, file_bytes: usize, image: *mut mnn_image_t) -> mnn_status;
    /// Decodes a file into a picture, whose extents must be those of the file.
    pub fn mnn_image_decode(file: *const c_void, file_bytes: usize, image: *const mnn_image_t) -> mnn_status;
    /// Writes a picture as a PNG file into a buffer.
    pub fn mnn_image_encode_png(
        image: *const mnn_image_t,
        buffer: *mut c_void,
        capacity: usize,
        needed: *mut usize,
    ) -> mnn_status;
    /// Makes `part` a view of a rectangle of `image`.
    pub fn mnn_image_crop(
        image: *const mnn_image_t,
        x: i32,
        y: i32,
        width: i32,
        height: i32,
        part: *mut mnn_image_t,
    ) -> mnn_status;
    /// Resizes `source` to the extents of `target`, into its pixels.
    pub fn mnn_image_resize(source: *const mnn_image_t, target: *const mnn_image_t) -> mnn_status;
    /// Prepares the options of a conversion.
    pub fn mnn_image_options_init(options: *mut mnn_image_options_t, size: usize) -> mnn_status;
    /// Prepares the description of values.
    pub fn mnn_image_values_init(values: *mut mnn_image_values_t, size: usize) -> mnn_status;
    /// Samples a picture at the places of the result's pixels, converts its colours and writes the values.
    pub fn mnn_image_convert(
        options: *const mnn_image_options_t,
        source: *const mnn_image_t,
        values: *const mnn_image_values_t,
    ) -> mnn_status;
}
