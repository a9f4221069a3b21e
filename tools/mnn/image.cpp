// Makes inputs of pictures as the flags say, by libmnn_c_image.
#include "image.h"

#include <algorithm>

#include "errors.h"
#include "picture.h"
#include "text.h"

namespace tool {
namespace {

constexpr int64_t kMaxExtent = 32768;

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

ImageForm::ImageForm(const std::vector<int64_t>& shape, bool last) : channelsLast(last) {
    const size_t c = last ? 3 : 1, h = last ? 1 : 2, w = last ? 2 : 3;
    const auto isExtent = [](int64_t dim) { return dim >= 1 && dim <= kMaxExtent; };
    if (shape.size() != 4 || shape[0] != 1 || (shape[c] != 1 && shape[c] != 3) || !isExtent(shape[h]) ||
        !isExtent(shape[w]))
        throw ToolError(
            "a picture fits only inputs of batch 1 with 1 or 3 channels (give --shape where the input is "
            "open)");
    channels = static_cast<int32_t>(shape[c]);
    height = static_cast<int32_t>(shape[h]);
    width = static_cast<int32_t>(shape[w]);
}

Array imageInput(std::string_view file, const ImageForm& form, const ImageFlags& flags) {
    checkChannelCount("--mean", flags.mean, form.channels);
    checkChannelCount("--scale", flags.scale, form.channels);
    const int32_t format = form.channels == 1 ? MNN_IMAGE_GRAY : flags.bgr ? MNN_IMAGE_BGR : MNN_IMAGE_RGB;
    Picture decoded = decodedPicture(file, format);
    Picture resized = resizedPicture(decoded, form.width, form.height);

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
