// Checks pictures, and computes their size in bytes.
#include "picture.h"

#include "c_api/arguments.h"

namespace mnnc::image {
namespace {

constexpr size_t kMaxStride = size_t{1} << 30;

}  // namespace

int pixelBytes(int32_t format) {
    switch (format) {
        case MNN_IMAGE_RGBA:
        case MNN_IMAGE_BGRA:
            return 4;
        case MNN_IMAGE_RGB:
        case MNN_IMAGE_BGR:
            return 3;
        case MNN_IMAGE_GRAY:
        case MNN_IMAGE_NV21:
        case MNN_IMAGE_NV12:
        case MNN_IMAGE_I420:
            return 1;
        default:
            fail(Status::InvalidValue, "there is no pixel format %d", format);
    }
}

void checkExtents(int32_t width, int32_t height, const char* what) {
    if (width < 1 || height < 1 || width > MNN_IMAGE_MAX_EXTENT || height > MNN_IMAGE_MAX_EXTENT)
        fail(Status::BadRange, "%s is %d x %d; extents are 1 to %d", what, width, height, MNN_IMAGE_MAX_EXTENT);
}

void checkPixelCount(int64_t width, int64_t height, const char* what) {
    if (width * height > MNN_IMAGE_MAX_PIXELS)
        fail(Status::LimitExceeded, "%s is %lld x %lld, which is more than %d pixels", what,
             static_cast<long long>(width), static_cast<long long>(height), MNN_IMAGE_MAX_PIXELS);
}

Picture describedPicture(const mnn_image_t* given, const char* name) {
    const mnn_image_t image = readStruct(required(given, name), sizeof(mnn_image_t), name);
    Picture picture;
    picture.format = image.format;
    const size_t rowBytes = static_cast<size_t>(pixelBytes(image.format)) * static_cast<size_t>(image.width);
    checkExtents(image.width, image.height, name);
    picture.width = image.width;
    picture.height = image.height;
    picture.stride = image.stride == 0 ? rowBytes : image.stride;
    if (picture.stride < rowBytes || picture.stride > kMaxStride)
        fail(Status::BadRange, "%s has a stride of %zu bytes; a row takes %zu, and %zu is the maximum", name,
             image.stride, rowBytes, kMaxStride);
    const auto height = static_cast<size_t>(image.height);
    if (isYuv(image.format)) {
        const size_t planes = image.format == MNN_IMAGE_I420 ? 2 : 1;
        picture.bytes =
            picture.stride * height + picture.colourStride() * static_cast<size_t>(picture.colourHeight()) * planes;
    } else {
        picture.bytes = picture.stride * (height - 1) + rowBytes;  // a view of a part may end with its row
    }
    return picture;
}

Picture checkedPicture(const mnn_image_t* given, const char* name, bool plain) {
    Picture picture = describedPicture(given, name);
    if (plain && isYuv(picture.format))
        fail(Status::NotSupported, "%s has the YUV format %d, which mnn_image_convert() alone reads", name,
             picture.format);
    if (given->bytes < picture.bytes)
        fail(Status::BufferTooSmall, "%s takes %zu bytes, its memory has %zu", name, picture.bytes, given->bytes);
    if (!given->pixels) fail(Status::NullArgument, "%s.pixels is NULL", name);
    picture.pixels = static_cast<uint8_t*>(given->pixels);
    return picture;
}

}  // namespace mnnc::image
