// Samples, converts colours and writes values, tile by tile.
#include "convert.h"

#include <algorithm>
#include <cmath>

#include "c_api/arguments.h"
#include "samplers.h"

namespace mnnc::image {
namespace {

struct Values {
    int32_t format = MNN_IMAGE_RGBA;
    int channels = 4;
    int64_t width = 0, height = 0;
    bool bytes = false;
    int64_t pixel = 0, channel = 0;  // steps from one to the next
    void* data = nullptr;
};

struct Options {
    Sampling sampling;
    std::array<float, 6> matrix{1, 0, 0, 0, 1, 0};
    std::array<float, 4> mean{}, scale{1, 1, 1, 1};
};

template <size_t Count>
void readFinite(const float (&from)[Count], std::array<float, Count>& to, const char* name) {
    for (size_t i = 0; i < Count; ++i) {
        if (!std::isfinite(from[i]))
            fail(Status::InvalidValue, "options.%s[%zu] is %g, which is not finite", name, i,
                 static_cast<double>(from[i]));
        to[i] = from[i];
    }
}

Options readOptions(const mnn_image_options_t* given) {
    Options options;
    if (!given) return options;
    const mnn_image_options_t all = readStruct(*given, sizeof *given, "options");
    if (all.filter < MNN_IMAGE_NEAREST || all.filter > MNN_IMAGE_BICUBIC)
        fail(Status::InvalidValue, "there is no filter %d", all.filter);
    if (all.wrap < MNN_IMAGE_CLAMP || all.wrap > MNN_IMAGE_REPEAT)
        fail(Status::InvalidValue, "there is no wrap %d", all.wrap);
    if (all.padding < 0 || all.padding > 255) fail(Status::BadRange, "the padding is %d; it is 0 to 255", all.padding);
    options.sampling = {all.filter, all.wrap, static_cast<uint8_t>(all.padding)};
    if (all.has_matrix) readFinite(all.matrix, options.matrix, "matrix");
    readFinite(all.mean, options.mean, "mean");
    if (all.has_scale) readFinite(all.scale, options.scale, "scale");
    return options;
}

Values readValues(const mnn_image_values_t* given) {
    const mnn_image_values_t all = readStruct(required(given, "values"), sizeof *given, "values");
    Values values;
    values.format = all.format;
    values.channels = pixelBytes(all.format);
    if (isYuv(all.format)) fail(Status::NotSupported, "values have no YUV format");
    checkExtents(all.width, all.height, "the result");
    values.width = all.width;
    values.height = all.height;
    if (all.type != 0 && all.type != MNN_TYPE_FLOAT32 && all.type != MNN_TYPE_UINT8)
        fail(Status::InvalidValue, "values of type %d are not float32 (1) or uint8 (4)", all.type);
    values.bytes = all.type == MNN_TYPE_UINT8;
    if (all.layout != MNN_FORMAT_NCHW && all.layout != MNN_FORMAT_NHWC)
        fail(Status::InvalidValue, "the layout %d is not NCHW (0) or NHWC (1)", all.layout);
    const bool planes = all.layout == MNN_FORMAT_NCHW;
    values.pixel = planes ? 1 : values.channels;
    values.channel = planes ? values.width * values.height : 1;
    const size_t needed =
        static_cast<size_t>(values.width * values.height * values.channels) * (values.bytes ? 1 : sizeof(float));
    if (all.bytes < needed)
        fail(Status::BufferTooSmall, "the result takes %zu bytes, its memory has %zu", needed, all.bytes);
    values.data = &required(static_cast<uint8_t*>(all.data), "values.data");
    return values;
}

// Converts one pixel to another order; gray by the official runtime's weights.
void convertPixel(const uint8_t* from, int32_t fromFormat, int fromChannels, uint8_t (&to)[4], int32_t toFormat) {
    uint8_t red = from[0], green = from[0], blue = from[0];
    if (fromChannels > 1) {
        green = from[1];
        blue = from[2];
    }
    if (fromFormat == MNN_IMAGE_BGR || fromFormat == MNN_IMAGE_BGRA) std::swap(red, blue);
    if (toFormat == MNN_IMAGE_GRAY) {
        to[0] = fromChannels == 1 ? red : static_cast<uint8_t>((19 * red + 38 * green + 7 * blue) >> 6);
        return;
    }
    if (toFormat == MNN_IMAGE_BGR || toFormat == MNN_IMAGE_BGRA) std::swap(red, blue);
    to[0] = red;
    to[1] = green;
    to[2] = blue;
    to[3] = fromChannels == 4 ? from[3] : 255;
}

}  // namespace

void convert(const mnn_image_options_t* options, const mnn_image_t* source, const mnn_image_values_t* values) {
    const Options how = readOptions(options);
    const Picture picture = checkedPicture(source, "source", false);
    const Values to = readValues(values);
    const bool yuv = isYuv(picture.format);
    if (yuv && how.sampling.wrap == MNN_IMAGE_REPEAT) fail(Status::NotSupported, "a YUV picture is not repeated");
    // The gray result of a YUV picture is its plane of brightness.
    Picture sampled = picture;
    Sampling sampling = how.sampling;
    if (yuv) {
        sampling.filter = MNN_IMAGE_NEAREST;
        if (to.format == MNN_IMAGE_GRAY) sampled.format = MNN_IMAGE_GRAY;
    }
    const bool colours = yuv && to.format != MNN_IMAGE_GRAY;
    const int32_t tileFormat = colours ? static_cast<int32_t>(MNN_IMAGE_RGB) : sampled.format;
    const int tileChannels = pixelBytes(tileFormat);

    const Matrix matrix(how.matrix);
    uint8_t tile[kTile * 4], pixel[4];
    for (int64_t y = 0; y < to.height; ++y) {
        for (int64_t x = 0; x < to.width; x += kTile) {
            const int count = static_cast<int>(std::min<int64_t>(kTile, to.width - x));
            sampleTile(sampled, sampling, matrix, x, y, count, tile);
            for (int i = 0; i < count; ++i) {
                convertPixel(tile + i * tileChannels, tileFormat, tileChannels, pixel, to.format);
                const int64_t at = (y * to.width + x + i) * to.pixel;
                for (int c = 0; c < to.channels; ++c) {
                    const auto channel = static_cast<size_t>(c);
                    if (to.bytes)
                        static_cast<uint8_t*>(to.data)[at + c * to.channel] = pixel[c];
                    else
                        static_cast<float*>(to.data)[at + c * to.channel] =
                            (static_cast<float>(pixel[c]) - how.mean[channel]) * how.scale[channel];
                }
            }
        }
    }
}

}  // namespace mnnc::image
