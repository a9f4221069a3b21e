// Pictures of the caller, checked once: after checkedPicture() every row lies in memory that the caller named.
#pragma once
#include <mnn_c_image.h>

#include <cstddef>
#include <cstdint>

namespace mnnc::image {

// Returns the bytes of a pixel, or 1 for the planes of a YUV picture. Fails for a format that does not exist.
int pixelBytes(int32_t format);
inline bool isYuv(int32_t format) {
    return format >= MNN_IMAGE_NV21;
}
// Fails unless both extents lie between 1 and MNN_IMAGE_MAX_EXTENT. `what`: e.g. "the picture".
void checkExtents(int32_t width, int32_t height, const char* what);
// Fails for more than MNN_IMAGE_MAX_PIXELS pixels.
void checkPixelCount(int64_t width, int64_t height, const char* what);

struct Picture {
    int32_t format = 0;
    int64_t width = 0, height = 0;
    size_t stride = 0;
    uint8_t* pixels = nullptr;
    size_t bytes = 0;  // size of the pixels

    int channels() const { return pixelBytes(format); }
    uint8_t* row(int64_t y) const { return pixels + static_cast<size_t>(y) * stride; }
    // Distance between rows of the colour planes, which begin after the last row of brightness.
    size_t colourStride() const { return format == MNN_IMAGE_I420 ? (stride + 1) / 2 : (stride + 1) / 2 * 2; }
    const uint8_t* colour() const { return row(height); }
    int64_t colourWidth() const { return (width + 1) / 2; }
    int64_t colourHeight() const { return (height + 1) / 2; }
};

// Reads only format, extents and stride; ignores `pixels`.
Picture describedPicture(const mnn_image_t* given, const char* name);
// Also checks the memory of the pixels. Refuses YUV formats where `plain`.
Picture checkedPicture(const mnn_image_t* given, const char* name, bool plain);

}  // namespace mnnc::image
