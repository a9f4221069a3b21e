// The functions of mnn_c_image.h: arguments, statuses and sentences.
#include <mnn_c_image.h>

#include <cstdio>
#include <cstring>

#include "base/boundary.h"
#include "boxes.h"
#include "c_api/arguments.h"
#include "convert.h"
#include "files.h"
#include "picture.h"
#include "stb.h"

namespace mnnc::image {
namespace {

// A plain array: a thread-local with a destructor would keep the library mapped after dlclose.
thread_local char lastError[1024];

void keepSentence(const char* sentence) noexcept {
    std::snprintf(lastError, sizeof lastError, "%s", sentence);
}

template <typename Body>
mnn_status guard(Body&& body) noexcept {
    return static_cast<mnn_status>(statusOf(keepSentence, body));
}

// Resizes with stb_image_resize, which counts the bytes of its ring of rows and the places of the target's rows in 32
// bits. The ring holds rows of floats: four for each row of the source that becomes one row of the target, and a few
// more (stb_image_resize 0.97, stbir__calculate_memory()).
void resize(const Picture& from, const Picture& to) {
    constexpr int64_t kMaxRingBytes = 1 << 30;
    const int64_t rows = 4 * ((from.height + to.height - 1) / to.height) + 8;
    if (to.width * to.channels() * 4 * rows > kMaxRingBytes)
        fail(Status::LimitExceeded, "%lld columns are too many to shrink %lld rows to %lld at once",
             static_cast<long long>(to.width), static_cast<long long>(from.height), static_cast<long long>(to.height));
    const auto resizeInto = [&](uint8_t* pixels, size_t stride) {
        if (!stbResize(from.pixels, static_cast<int>(from.width), static_cast<int>(from.height),
                       static_cast<int>(from.stride), pixels, static_cast<int>(to.width), static_cast<int>(to.height),
                       static_cast<int>(stride), to.channels()))
            throw std::bad_alloc();
    };
    if (static_cast<size_t>(to.height - 1) * to.stride <= INT32_MAX) return resizeInto(to.pixels, to.stride);
    const size_t rowBytes = static_cast<size_t>(to.width) * to.channels();
    std::vector<uint8_t> packed(rowBytes * to.height);
    resizeInto(packed.data(), rowBytes);
    for (int64_t y = 0; y < to.height; ++y) std::memcpy(to.row(y), packed.data() + y * rowBytes, rowBytes);
}

std::span<const uint8_t> fileBytes(const void* file, size_t bytes) {
    return {&required(static_cast<const uint8_t*>(file), "file"), bytes};
}

}  // namespace
}  // namespace mnnc::image

using namespace mnnc;
using namespace mnnc::image;

extern "C" {

mnn_status mnn_image_init(mnn_image_t* image, size_t size) {
    return guard([&] { initStruct(&required(image, "image"), size, sizeof *image, "mnn_image_t"); });
}

mnn_status mnn_image_options_init(mnn_image_options_t* options, size_t size) {
    return guard([&] { initStruct(&required(options, "options"), size, sizeof *options, "mnn_image_options_t"); });
}

mnn_status mnn_image_values_init(mnn_image_values_t* values, size_t size) {
    return guard([&] { initStruct(&required(values, "values"), size, sizeof *values, "mnn_image_values_t"); });
}

mnn_status mnn_image_byte_size(const mnn_image_t* image, size_t* bytes) {
    return guard([&] {
        required(bytes, "bytes");
        *bytes = describedPicture(image, "image").bytes;
    });
}

const char* mnn_image_last_error(void) {
    return lastError;
}

mnn_status mnn_image_info(const void* file, size_t file_bytes, mnn_image_t* image) {
    return guard([&] {
        mnn_image_t result = readStruct(required(image, "image"), sizeof *image, "image");
        const Picture found = fileInfo(fileBytes(file, file_bytes));
        result.format = found.format;
        result.width = static_cast<int32_t>(found.width);
        result.height = static_cast<int32_t>(found.height);
        result.stride = 0;
        result.bytes = found.bytes;
        writeStruct(image, result);
    });
}

mnn_status mnn_image_decode(const void* file, size_t file_bytes, const mnn_image_t* image) {
    return guard([&] {
        const Picture to = checkedPicture(image, "image", true);
        decodeFile(fileBytes(file, file_bytes), to);
    });
}

mnn_status mnn_image_encode_png(const mnn_image_t* image, void* buffer, size_t capacity, size_t* needed) {
    return guard([&] {
        const std::vector<uint8_t> file = pngFile(checkedPicture(image, "image", true));
        fillBuffer(static_cast<uint8_t*>(buffer), capacity, needed, file.data(), file.size(), "the PNG file");
    });
}

mnn_status mnn_image_crop(const mnn_image_t* image, int32_t x, int32_t y, int32_t width, int32_t height,
                          mnn_image_t* part) {
    return guard([&] {
        const Picture whole = checkedPicture(image, "image", true);
        mnn_image_t result = readStruct(required(part, "part"), sizeof *part, "part");
        if (x < 0 || y < 0 || width < 1 || height < 1 || int64_t{x} + width > whole.width ||
            int64_t{y} + height > whole.height)
            fail(Status::BadRange, "the rectangle of %d x %d at (%d, %d) is not inside of %lld x %lld", width, height,
                 x, y, static_cast<long long>(whole.width), static_cast<long long>(whole.height));
        const size_t offset = static_cast<size_t>(y) * whole.stride + static_cast<size_t>(x) * whole.channels();
        result.format = whole.format;
        result.width = width;
        result.height = height;
        result.stride = whole.stride;
        result.pixels = whole.pixels + offset;
        result.bytes = whole.bytes - offset;
        writeStruct(part, result);
    });
}

mnn_status mnn_image_resize(const mnn_image_t* source, const mnn_image_t* target) {
    return guard([&] {
        const Picture from = checkedPicture(source, "source", true);
        const Picture to = checkedPicture(target, "target", true);
        if (from.format != to.format)
            fail(Status::BadType, "the source has the pixel format %d, the target %d", from.format, to.format);
        checkPixelCount(from.width, from.height, "the source");
        checkPixelCount(to.width, to.height, "the target");
        // Equal extents are copied: the filter for shrinking would blur them.
        if (from.width == to.width && from.height == to.height) {
            const size_t rowBytes = static_cast<size_t>(from.width) * from.channels();
            for (int64_t y = 0; y < from.height; ++y) std::memcpy(to.row(y), from.row(y), rowBytes);
            return;
        }
        resize(from, to);
    });
}

mnn_status mnn_image_convert(const mnn_image_options_t* options, const mnn_image_t* source,
                             const mnn_image_values_t* values) {
    return guard([&] { convert(options, source, values); });
}

mnn_status mnn_image_detector_init(mnn_image_detector_t* detector, size_t size) {
    return guard([&] { initStruct(&required(detector, "detector"), size, sizeof *detector, "mnn_image_detector_t"); });
}

mnn_status mnn_image_boxes(const mnn_image_detector_t* detector, const float* boxes, const float* scores,
                           const float* classes, double* buffer, size_t capacity, size_t* needed) {
    return guard([&] {
        const mnn_image_detector_t given = readStruct(required(detector, "detector"), sizeof *detector, "detector");
        const std::vector<double> found = findBoxes(given, boxes, scores, classes);
        fillBuffer(buffer, capacity, needed, found.data(), found.size(), "the list of boxes");
    });
}

}  // extern "C"
