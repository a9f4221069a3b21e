// Reads image files as inputs: what the flags say, by libmnn_c_image.
#include "image.h"

#include <mnn_c_image.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "errors.h"
#include "text.h"

namespace tool {
namespace {

// Above what mnn_image_decode() takes nothing is read.
constexpr size_t kMaxBytes = 1 << 29;

void check(mnn_status status, const std::string& path) {
    if (status != MNN_OK)
        throw ToolError(text::format("cannot read the image '{}': {}", path, mnn_image_last_error()));
}

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

void fillChannels(const std::vector<double>& values, float (&channels)[4]) {
    for (size_t i = 0; i < 4 && !values.empty(); ++i)
        channels[i] = static_cast<float>(values[std::min(i, values.size() - 1)]);
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
    const int channels = static_cast<int>(shape[c]);
    checkChannelCount("--mean", flags.mean, channels);
    checkChannelCount("--scale", flags.scale, channels);

    const std::vector<unsigned char> file = readWhole(path);
    mnn_image_t decoded;
    check(mnn_image_init(&decoded, sizeof decoded), path);
    check(mnn_image_info(file.data(), file.size(), &decoded), path);
    decoded.format = channels == 1 ? MNN_IMAGE_GRAY : flags.bgr ? MNN_IMAGE_BGR : MNN_IMAGE_RGB;
    check(mnn_image_byte_size(&decoded, &decoded.bytes), path);
    std::vector<unsigned char> pixels(decoded.bytes);
    decoded.pixels = pixels.data();
    check(mnn_image_decode(file.data(), file.size(), &decoded), path);

    mnn_image_t resized = decoded;
    resized.width = static_cast<int32_t>(shape[w]);
    resized.height = static_cast<int32_t>(shape[h]);
    check(mnn_image_byte_size(&resized, &resized.bytes), path);
    std::vector<unsigned char> resizedPixels(resized.bytes);
    resized.pixels = resizedPixels.data();
    check(mnn_image_resize(&decoded, &resized), path);

    Array array{Element::Float32, shape, std::vector<unsigned char>(resized.bytes * sizeof(float))};
    mnn_image_options_t options;
    check(mnn_image_options_init(&options, sizeof options), path);
    fillChannels(flags.mean, options.mean);
    fillChannels(flags.scale, options.scale);
    options.has_scale = flags.scale.empty() ? 0 : 1;
    mnn_image_values_t values;
    check(mnn_image_values_init(&values, sizeof values), path);
    values.format = resized.format;
    values.width = resized.width;
    values.height = resized.height;
    values.layout = channelsLast ? MNN_FORMAT_NHWC : MNN_FORMAT_NCHW;
    values.data = array.bytes.data();
    values.bytes = array.bytes.size();
    check(mnn_image_convert(&options, &resized, &values), path);
    return array;
}

}  // namespace tool
