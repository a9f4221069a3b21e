#include "image.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "common.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
// Of what isImageFile() knows alone: the file's content chooses the reader, whatever it is called.
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_BMP
#define STBI_ONLY_GIF
#define STBI_ONLY_TGA
#define STBI_ONLY_PNM
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#include <stb_image.h>
#define STB_IMAGE_RESIZE_STATIC
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb_image_resize.h>
#pragma GCC diagnostic pop

namespace tool {
namespace {

constexpr int64_t kMostPixels = 1 << 26;  // a few bytes may claim to be an image of any size

double perChannel(const std::vector<double>& values, int channel, double fallback) {
    if (values.empty()) return fallback;
    return values.size() == 1 ? values[0] : values[static_cast<size_t>(channel)];
}

void checkChannelCount(const char* flag, const std::vector<double>& values, int channels) {
    if (values.size() > 1 && values.size() != static_cast<size_t>(channels))
        throw UsageError(
            fmt::format("{} has {} numbers, the input has {} channels", flag, values.size(), channels));
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
            fmt::format("an image fits only inputs of batch 1 with 1 or 3 channels; this one is {} (give "
                        "--shape where it is open)",
                        shapeText(shape)));
    const int channels = static_cast<int>(shape[c]), height = static_cast<int>(shape[h]),
              width = static_cast<int>(shape[w]);
    checkChannelCount("--mean", flags.mean, channels);
    checkChannelCount("--scale", flags.scale, channels);

    int fileWidth = 0, fileHeight = 0, fileChannels = 0;
    if (!stbi_info(path.c_str(), &fileWidth, &fileHeight, &fileChannels))
        throw ToolError(fmt::format("cannot read the image '{}': {}", path, stbi_failure_reason()));
    if (fileWidth < 1 || fileHeight < 1 || int64_t{fileWidth} * fileHeight > kMostPixels)
        throw ToolError(fmt::format("the image '{}' is {}x{}, readable are 1 to {} pixels", path, fileWidth,
                                    fileHeight, kMostPixels));
    const std::unique_ptr<unsigned char, void (*)(void*)> pixels(
        stbi_load(path.c_str(), &fileWidth, &fileHeight, &fileChannels, channels), stbi_image_free);
    if (!pixels) throw ToolError(fmt::format("cannot read the image '{}': {}", path, stbi_failure_reason()));
    std::vector<unsigned char> resized(static_cast<size_t>(width) * height * channels);
    if (!stbir_resize_uint8(pixels.get(), fileWidth, fileHeight, 0, resized.data(), width, height, 0,
                            channels))
        throw ToolError(fmt::format("cannot resize the image '{}' to {}x{}", path, width, height));

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
