// Makes inputs of pictures as the flags specify, with libmnn_c_image.
#include "image.h"

#include <algorithm>
#include <cmath>

#include "errors.h"
#include "picture.h"
#include "text.h"

namespace tool {
namespace {

void fillChannels(const std::vector<double>& values, float (&channels)[4]) {
    for (size_t i = 0; i < 4 && !values.empty(); ++i)
        channels[i] = static_cast<float>(values[std::min(i, values.size() - 1)]);
}

void checkChannelCount(const char* flag, const std::vector<double>& values, int channels) {
    if (values.size() > 1 && values.size() != static_cast<size_t>(channels))
        throw UsageError(fmt::format("{} has {} numbers, the input has {} channels", flag, values.size(), channels));
}

// Places the picture on a background of kMargin.
Picture onGround(const Picture& picture, const Place& place, int32_t width, int32_t height) {
    const size_t channels = picture.pixels.size() / picture.width / picture.height;
    Picture ground{picture.format, width, height, {}};
    ground.pixels.assign(size_t(width) * height * channels, kMargin);
    const size_t row = size_t(place.width) * channels;
    for (int32_t y = 0; y < place.height; ++y)
        std::copy_n(&picture.pixels[size_t(y) * row], row,
                    &ground.pixels[(size_t(place.top + y) * width + place.left) * channels]);
    return ground;
}

}  // namespace

ImageForm::ImageForm(const std::vector<int64_t>& shape, bool last) : channelsLast(last) {
    const size_t c = last ? 3 : 1, h = last ? 1 : 2, w = last ? 2 : 3;
    const auto isExtent = [](int64_t dim) { return dim >= 1 && dim <= MNN_IMAGE_MAX_EXTENT; };
    if (shape.size() != 4 || shape[0] != 1 || (shape[c] != 1 && shape[c] != 3) || !isExtent(shape[h]) ||
        !isExtent(shape[w]))
        throw ToolError(
            fmt::format("a picture fits only inputs of batch 1 with 1 or 3 channels and extents up to {}; where the "
                        "extents are open, --shape gives them, as in --shape NAME=1x3x640x640",
                        MNN_IMAGE_MAX_EXTENT));
    channels = static_cast<int32_t>(shape[c]);
    height = static_cast<int32_t>(shape[h]);
    width = static_cast<int32_t>(shape[w]);
}

Place placeOf(int32_t pictureWidth, int32_t pictureHeight, const ImageForm& form, const ImageFlags& flags) {
    if (!flags.letterbox) return {0, 0, form.width, form.height};
    const double scale = std::min(double(form.width) / pictureWidth, double(form.height) / pictureHeight);
    const auto fitted = [&](int32_t extent, int32_t limit) {
        return std::clamp(static_cast<int32_t>(std::lround(extent * scale)), 1, limit);
    };
    const int32_t width = fitted(pictureWidth, form.width), height = fitted(pictureHeight, form.height);
    return {(form.width - width) / 2, (form.height - height) / 2, width, height};
}

Array imageInput(std::string_view file, const ImageForm& form, const ImageFlags& flags) {
    checkChannelCount("--mean", flags.mean, form.channels);
    checkChannelCount("--scale", flags.scale, form.channels);
    const int32_t format = form.channels == 1 ? MNN_IMAGE_GRAY : flags.bgr ? MNN_IMAGE_BGR : MNN_IMAGE_RGB;
    Picture decoded = decodedPicture(file, format);
    const Place place = placeOf(decoded.width, decoded.height, form, flags);
    Picture resized = resizedPicture(decoded, place.width, place.height);
    if (flags.letterbox) resized = onGround(resized, place, form.width, form.height);

    std::vector<int64_t> shape = {1, form.channels, form.height, form.width};
    if (form.channelsLast) shape = {1, form.height, form.width, form.channels};
    Array array{Element::Float32, shape, std::vector<unsigned char>(resized.pixels.size() * sizeof(float))};
    mnn_image_options_t options;
    checkImage(mnn_image_options_init(&options, sizeof options));
    fillChannels(flags.mean, options.mean);
    fillChannels(flags.scale, options.scale);
    options.has_scale = flags.scale.empty() ? 0 : 1;
    mnn_image_values_t values;
    checkImage(mnn_image_values_init(&values, sizeof values));
    values.format = resized.format;
    values.width = resized.width;
    values.height = resized.height;
    values.layout = form.channelsLast ? MNN_FORMAT_NHWC : MNN_FORMAT_NCHW;
    values.data = array.bytes.data();
    values.bytes = array.bytes.size();
    const mnn_image_t picture = resized.view();
    checkImage(mnn_image_convert(&options, &picture, &values));
    return array;
}

}  // namespace tool
