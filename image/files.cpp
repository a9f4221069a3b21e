// Reads files with stb_image, except for the kinds that it reads wrongly (.pgm, .ppm).
#include "files.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "content_check.h"
#include "jpeg_check.h"
#include "pnm.h"
#include "stb.h"

namespace mnnc::image {
namespace {

constexpr int64_t kSmallImage = 1 << 20;

// Returns how many pixels a byte of the file holds at most. A few bytes may claim to be an image of any size, and
// stb_image takes seconds to find that they are not.
int64_t maxPixelsPerByte(std::span<const uint8_t> file) {
    constexpr int64_t kDeflate = 1032;  // bytes that the deflate algorithm makes of one (RFC 1951: 258 of 2 bits)
    const std::string_view begin(reinterpret_cast<const char*>(file.data()), std::min(file.size(), size_t{4}));
    if (begin == "\x89PNG") return 8 * kDeflate;  // pixels of one bit
    if (begin == "GIF8") return 4096 * 8 / 12;    // a code of 12 bits stands for less than 4096 pixels
    return kDeflate;
}

int32_t formatOf(int channels) {
    if (channels == 1) return MNN_IMAGE_GRAY;
    return channels == 3 ? MNN_IMAGE_RGB : MNN_IMAGE_RGBA;  // 2: gray and alpha
}

// Reads the extents and the number of channels.
Decoded header(std::span<const uint8_t> file) {
    if (file.size() > kMaxFileBytes)
        fail(Status::LimitExceeded, "the file has %zu bytes; at most %zu can be read", file.size(), kMaxFileBytes);
    Decoded found;
    if (isPnm(file)) {
        found = pnmHeader(file);
    } else {
        if (const char* defect = jpegDefect(file)) fail(Status::BadFormat, "%s", defect);
        const int bytes = static_cast<int>(file.size());
        if (!stbInfo(file.data(), bytes, found.width, found.height, found.channels))
            fail(Status::BadFormat, "the file is no picture that can be read: %s", stbReason());
        if (hasShiftedColours(file))
            fail(Status::BadFormat, "the numbers of the colours in its table do not begin at 0");
        const int64_t count = int64_t{found.width} * found.height;
        if ((count > kSmallImage && count / maxPixelsPerByte(file) > bytes) ||
            !containsAllPixels(file, found.width, found.height))
            fail(Status::Truncated, "the picture is %dx%d, for which its %d bytes are too few", found.width,
                 found.height, bytes);
    }
    if (found.width < 1 || found.height < 1)
        fail(Status::BadFormat, "the picture is %dx%d; extents are at least 1", found.width, found.height);
    if (found.width > MNN_IMAGE_MAX_EXTENT || found.height > MNN_IMAGE_MAX_EXTENT)
        fail(Status::LimitExceeded, "the picture is %dx%d; extents up to %d are readable", found.width, found.height,
             MNN_IMAGE_MAX_EXTENT);
    checkPixelCount(found.width, found.height, "the picture");
    return found;
}

// Converts one row of a .pgm or .ppm file, with colours weighted as in stb_image.
void convertRow(const uint8_t* from, int fromChannels, uint8_t* to, int channels, int64_t width) {
    for (int64_t x = 0; x < width; ++x, from += fromChannels, to += channels) {
        if (channels == 1) {
            to[0] =
                fromChannels == 1 ? from[0] : static_cast<uint8_t>((from[0] * 77 + from[1] * 150 + from[2] * 29) >> 8);
            continue;
        }
        for (int c = 0; c < 3; ++c) to[c] = from[fromChannels == 1 ? 0 : c];
        if (channels == 4) to[3] = 255;
    }
}

void swapRedAndBlue(const Picture& picture) {
    for (int64_t y = 0; y < picture.height; ++y) {
        uint8_t* pixel = picture.row(y);
        for (int64_t x = 0; x < picture.width; ++x, pixel += picture.channels()) std::swap(pixel[0], pixel[2]);
    }
}

}  // namespace

Picture fileInfo(std::span<const uint8_t> file) {
    const Decoded found = header(file);
    Picture picture;
    picture.format = formatOf(found.channels);
    picture.width = found.width;
    picture.height = found.height;
    picture.bytes = static_cast<size_t>(found.width) * found.height * picture.channels();
    return picture;
}

void decodeFile(std::span<const uint8_t> file, const Picture& to) {
    const Decoded found = header(file);
    if (found.width != to.width || found.height != to.height)
        fail(Status::ComputeSizeError, "the file holds %dx%d pixels, the memory is for %lldx%lld", found.width,
             found.height, static_cast<long long>(to.width), static_cast<long long>(to.height));
    const int channels = to.channels();
    const size_t rowBytes = static_cast<size_t>(to.width) * channels;
    if (isPnm(file)) {
        const Decoded image = readPnm(file);
        const size_t fromBytes = static_cast<size_t>(image.width) * image.channels;
        for (int64_t y = 0; y < to.height; ++y)
            convertRow(image.values.data() + y * fromBytes, image.channels, to.row(y), channels, to.width);
    } else {
        const StbPixels pixels = stbDecode(file.data(), static_cast<int>(file.size()), channels);
        if (!pixels) fail(Status::BadFormat, "the file cannot be decoded: %s", stbReason());
        for (int64_t y = 0; y < to.height; ++y) std::memcpy(to.row(y), pixels.get() + y * rowBytes, rowBytes);
    }
    if (to.format == MNN_IMAGE_BGR || to.format == MNN_IMAGE_BGRA) swapRedAndBlue(to);
}

std::vector<uint8_t> pngFile(const Picture& picture) {
    checkPixelCount(picture.width, picture.height, "the picture");
    const int channels = picture.channels();
    const size_t rowBytes = static_cast<size_t>(picture.width) * channels;
    std::vector<uint8_t> pixels(rowBytes * picture.height);
    Picture packed = picture;
    packed.pixels = pixels.data();
    packed.stride = rowBytes;
    for (int64_t y = 0; y < picture.height; ++y) std::memcpy(packed.row(y), picture.row(y), rowBytes);
    if (picture.format == MNN_IMAGE_BGR || picture.format == MNN_IMAGE_BGRA) swapRedAndBlue(packed);
    return stbPng(pixels.data(), static_cast<int>(picture.width), static_cast<int>(picture.height), channels);
}

}  // namespace mnnc::image
