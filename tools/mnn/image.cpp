// Decodes images with stb_image, resizes and normalises them.
#include "image.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

#include "errors.h"
#include "jpeg_check.h"
#include "pnm.h"
#include "text.h"

namespace {

// Limits the size of a file and of each allocation of stb_image, since a few bytes can announce gigabytes.
constexpr size_t kMaxBytes = 1 << 29;

void* boundedRealloc(void* memory, size_t bytes) {
    return bytes > kMaxBytes ? nullptr : std::realloc(memory, bytes);
}

}  // namespace

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#define STBI_MALLOC(bytes) boundedRealloc(nullptr, bytes)
#define STBI_REALLOC(memory, bytes) boundedRealloc(memory, bytes)
#define STBI_FREE(memory) std::free(memory)
// Only the formats of isImageFile(): the file's content chooses the reader, not its name.
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_GIF
#define STBI_ONLY_TGA
#define STBI_NO_STDIO
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb_image.h>
#define STB_IMAGE_RESIZE_STATIC
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb_image_resize.h>
#pragma GCC diagnostic pop

namespace tool {
namespace {

// A few bytes may claim to be an image of any size, and stb_image takes seconds to find that they are not. Deflate, which
// compresses best, makes at most 1032 bytes of one.
constexpr int64_t kMaxPixels = 1 << 26, kSmallImage = 1 << 20, kMaxPixelsPerByte = 1032;

std::vector<unsigned char> readWhole(const std::string& path) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    std::error_code ignored;
    if (!in || std::filesystem::is_directory(path, ignored))
        throw ToolError(text::format("cannot open the image '{}'", path));
    const auto size = static_cast<size_t>(in.tellg());
    if (size > kMaxBytes)
        throw ToolError(
            text::format("the image '{}' has {} bytes, readable are up to {}", path, size, kMaxBytes));
    std::vector<unsigned char> bytes(size);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    if (!in) throw ToolError(text::format("cannot read the image '{}' to its end", path));
    return bytes;
}

Pixels decode(const std::vector<unsigned char>& file, int channels, const std::string& path) {
    if (const char* defect = jpegDefect(file))
        throw ToolError(text::format("cannot read the image '{}': {}", path, defect));
    const int bytes = static_cast<int>(file.size());
    Pixels image;
    if (!stbi_info_from_memory(file.data(), bytes, &image.width, &image.height, &image.channels))
        throw ToolError(text::format("cannot read the image '{}': {}", path, stbi_failure_reason()));
    const int64_t count = int64_t{image.width} * image.height;
    if (count < 1 || count > kMaxPixels)
        throw ToolError(text::format("the image '{}' is {}x{}, readable are 1 to {} pixels", path,
                                     image.width, image.height, kMaxPixels));
    if (count > kSmallImage && count / kMaxPixelsPerByte > bytes)
        throw ToolError(text::format("the image '{}' is {}x{}, for which its {} bytes are too few", path,
                                     image.width, image.height, bytes));
    const std::unique_ptr<unsigned char, void (*)(void*)> pixels(
        stbi_load_from_memory(file.data(), bytes, &image.width, &image.height, &image.channels, channels),
        stbi_image_free);
    if (!pixels) throw ToolError(text::format("cannot read the image '{}': {}", path, stbi_failure_reason()));
    image.channels = channels;
    image.values.assign(pixels.get(), pixels.get() + count * channels);
    return image;
}

// Grey becomes three equal channels; colours become their brightness, weighted as stb_image weights them.
Pixels withChannels(Pixels image, int channels) {
    if (image.channels == channels) return image;
    const size_t count = static_cast<size_t>(image.width) * image.height;
    std::vector<unsigned char> values(count * channels);
    for (size_t i = 0; i < count; ++i) {
        const unsigned char* from = image.values.data() + i * image.channels;
        if (channels == 3)
            std::fill_n(values.data() + i * 3, 3, *from);
        else
            values[i] = static_cast<unsigned char>((from[0] * 77 + from[1] * 150 + from[2] * 29) >> 8);
    }
    image.values = std::move(values);
    image.channels = channels;
    return image;
}

double perChannel(const std::vector<double>& values, int channel, double fallback) {
    if (values.empty()) return fallback;
    return values.size() == 1 ? values[0] : values[static_cast<size_t>(channel)];
}

void checkChannelCount(const char* flag, const std::vector<double>& values, int channels) {
    if (values.size() > 1 && values.size() != static_cast<size_t>(channels))
        throw UsageError(
            text::format("{} has {} numbers, the input has {} channels", flag, values.size(), channels));
}

}  // namespace

bool isImageFile(const std::string& path) {
    const size_t dot = path.rfind('.');
    if (dot == std::string::npos) return false;
    std::string ending = path.substr(dot + 1);
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    const std::vector<std::string> known = {"png", "jpg", "jpeg", "bmp", "gif", "tga", "ppm", "pgm"};
    return std::find(known.begin(), known.end(), ending) != known.end();
}

Array readImage(const std::string& path, const std::vector<int64_t>& shape, bool channelsLast,
                const ImageFlags& flags) {
    const size_t c = channelsLast ? 3 : 1, h = channelsLast ? 1 : 2, w = channelsLast ? 2 : 3;
    if (shape.size() != 4 || shape[0] != 1 || (shape[c] != 1 && shape[c] != 3) || shape[h] < 1 ||
        shape[w] < 1 || shape[h] > 32768 || shape[w] > 32768)
        throw ToolError(
            text::format("an image fits only inputs of batch 1 with 1 or 3 channels; this one is {} (give "
                         "--shape where it is open)",
                         shapeText(shape)));
    const int channels = static_cast<int>(shape[c]), height = static_cast<int>(shape[h]),
              width = static_cast<int>(shape[w]);
    checkChannelCount("--mean", flags.mean, channels);
    checkChannelCount("--scale", flags.scale, channels);

    const std::vector<unsigned char> file = readWhole(path);
    const Pixels pixels =
        isPnm(file) ? withChannels(readPnm(file, kMaxPixels, path), channels) : decode(file, channels, path);
    std::vector<unsigned char> resized(static_cast<size_t>(width) * height * channels);
    if (!stbir_resize_uint8(pixels.values.data(), pixels.width, pixels.height, 0, resized.data(), width,
                            height, 0, channels))
        throw ToolError(text::format("cannot resize the image '{}' to {}x{}", path, width, height));

    Array array{Element::Float32, shape, std::vector<unsigned char>(resized.size() * sizeof(float))};
    const size_t area = static_cast<size_t>(width) * height;
    for (size_t pixel = 0; pixel < area; pixel++) {
        for (int channel = 0; channel < channels; channel++) {
            const int from = flags.bgr ? channels - 1 - channel : channel;
            const double value = (resized[pixel * channels + from] - perChannel(flags.mean, channel, 0)) *
                                 perChannel(flags.scale, channel, 1);
            const float stored = static_cast<float>(value);
            const size_t to = channelsLast ? pixel * channels + channel : channel * area + pixel;
            std::memcpy(array.bytes.data() + to * sizeof(float), &stored, sizeof stored);
        }
    }
    return array;
}

}  // namespace tool
