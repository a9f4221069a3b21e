// Nearest, bilinear and bicubic samples. The float operations have the order of the official runtime, and no two of
// them may be fused.
#include "samplers.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mnnc::image {
namespace {

// Returns `at` clamped to [0, extent - 1]; NaN becomes 0.
float inside(float at, int64_t extent) {
    return at > 0 ? std::min(at, static_cast<float>(extent - 1)) : 0;
}

// Returns the place in [0, extent) that has the same value as `at` where the picture is repeated. Far away the product
// below is rounded by more than an extent; such a place becomes 0, and so do infinity and NaN.
double repeated(double at, int64_t extent) {
    const auto size = static_cast<double>(extent);
    const double rest = at - std::floor(at / size) * size;
    return rest >= 0 && rest < size ? rest : 0;
}

int64_t nearest(float at, int64_t extent, bool repeat) {
    if (!repeat) return static_cast<int64_t>(std::floor(static_cast<double>(inside(at, extent)) + 0.5));
    return static_cast<int64_t>(repeated(std::floor(static_cast<double>(at) + 0.5), extent));
}

// Up to four neighbours along one axis, and the position of the place between the first two, or the middle two.
struct Taps {
    int64_t index[4];
    float fraction;
};

Taps tapsAt(float at, int64_t extent, bool repeat, int before, int count) {
    Taps taps{};
    if (repeat) {
        const double place = repeated(at, extent);
        const double low = std::floor(place);
        taps.fraction = static_cast<float>(place - low);
        for (int i = 0; i < count; ++i) taps.index[i] = static_cast<int64_t>(repeated(low + (i - before), extent));
        return taps;
    }
    const float place = inside(at, extent), low = std::floor(place);
    taps.fraction = place - low;
    for (int i = 0; i < count; ++i)
        taps.index[i] = std::clamp<int64_t>(static_cast<int64_t>(low) + (i - before), 0, extent - 1);
    return taps;
}

void nearestPixel(const Picture& picture, Place place, bool repeat, uint8_t* to) {
    const auto channels = static_cast<size_t>(picture.channels());
    const uint8_t* from = picture.row(nearest(place.y, picture.height, repeat)) +
                          static_cast<size_t>(nearest(place.x, picture.width, repeat)) * channels;
    std::memcpy(to, from, channels);
}

void bilinearPixel(const Picture& picture, Place place, bool repeat, uint8_t* to) {
    const auto channels = static_cast<size_t>(picture.channels());
    const Taps x = tapsAt(place.x, picture.width, repeat, 0, 2);
    const Taps y = tapsAt(place.y, picture.height, repeat, 0, 2);
    const uint8_t *upper = picture.row(y.index[0]), *lower = picture.row(y.index[1]);
    const size_t left = static_cast<size_t>(x.index[0]) * channels;
    const size_t right = static_cast<size_t>(x.index[1]) * channels;
    const float fx = x.fraction, fy = y.fraction;
    const float weights[4] = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy};
    for (size_t c = 0; c < channels; ++c) {
        const float products[4] = {
            weights[0] * static_cast<float>(upper[left + c]),
            weights[1] * static_cast<float>(upper[right + c]),
            weights[2] * static_cast<float>(lower[left + c]),
            weights[3] * static_cast<float>(lower[right + c]),
        };
        // Four channels are summed and truncated, others are summed in pairs and rounded.
        const float sum = channels == 4 ? products[0] + products[1] + products[2] + products[3]
                                        : (products[0] + products[1]) + (products[2] + products[3]) + 0.5F;
        to[c] = static_cast<uint8_t>(std::clamp(sum, 0.0F, 255.0F));
    }
}

// Catmull and Rom's spline through four values.
void cubicWeights(float t, float (&weights)[4]) {
    weights[0] = ((-0.5F * t + 1) * t - 0.5F) * t;
    weights[1] = (1.5F * t - 2.5F) * t * t + 1;
    weights[2] = ((-1.5F * t + 2) * t + 0.5F) * t;
    weights[3] = (0.5F * t - 0.5F) * t * t;
}

void bicubicPixel(const Picture& picture, Place place, bool repeat, uint8_t* to) {
    const auto channels = static_cast<size_t>(picture.channels());
    const Taps x = tapsAt(place.x, picture.width, repeat, 1, 4);
    const Taps y = tapsAt(place.y, picture.height, repeat, 1, 4);
    float across[4], down[4];
    cubicWeights(x.fraction, across);
    cubicWeights(y.fraction, down);
    for (size_t c = 0; c < channels; ++c) {
        float sum = 0;
        for (int j = 0; j < 4; ++j) {
            const uint8_t* row = picture.row(y.index[j]);
            float line = 0;
            for (int i = 0; i < 4; ++i)
                line += across[i] * static_cast<float>(row[static_cast<size_t>(x.index[i]) * channels + c]);
            sum += down[j] * line;
        }
        to[c] = static_cast<uint8_t>(std::clamp(std::floor(sum + 0.5F), 0.0F, 255.0F));
    }
}

void sampleColours(const Picture& picture, const Sampling& sampling, const Walk& walk, int count, uint8_t* to) {
    const int channels = picture.channels();
    const bool repeat = sampling.wrap == MNN_IMAGE_REPEAT;
    Place places[kTile];
    fillPlaces(walk, count, channels == 4 && sampling.filter == MNN_IMAGE_NEAREST, places);
    const auto pixel = sampling.filter == MNN_IMAGE_NEAREST    ? nearestPixel
                       : sampling.filter == MNN_IMAGE_BILINEAR ? bilinearPixel
                                                               : bicubicPixel;
    for (int i = 0; i < count; ++i) pixel(picture, places[i], repeat, to + i * channels);
}

uint8_t limited(int value) {
    return static_cast<uint8_t>(std::clamp(value, 0, 255));
}

// Returns the pixels of a tile whose places lie in a plane. Only MNN_IMAGE_ZERO excludes any: the other modes define
// values outside of the picture.
Span spanOf(const Sampling& sampling, const Walk& walk, int count, int64_t width, int64_t height) {
    if (sampling.wrap != MNN_IMAGE_ZERO) return {0, count - 1};
    return insideSpan(walk, count, width, height);
}

// Stores pairs of U and V, one for every two adjacent pixels in `span`. Pixels outside of it get 128, the neutral value
// of U and V. A pair is the nearest one to (place - 0.01) / 2, as in the official runtime.
void sampleColourPlane(const Picture& picture, const Walk& walk, Span span, uint8_t (&to)[kTile + 1]) {
    std::memset(to, 128, sizeof to);
    if (span.first > span.last) return;
    const int first = span.first / 2, count = (span.last - span.first + 2) / 2;
    const Place from = walkFrom(walk, span.first).start;
    const Walk half{{(from.x - 0.01F) * 0.5F, (from.y - 0.01F) * 0.5F}, walk.step};
    Place places[kTile];
    fillPlaces(half, count, false, places);
    const int64_t width = picture.colourWidth(), height = picture.colourHeight();
    const bool planar = picture.format == MNN_IMAGE_I420;
    const size_t stride = picture.colourStride(), step = planar ? 1 : 2;
    const size_t second = planar ? stride * static_cast<size_t>(height) : 1;
    uint8_t* out = to + first * 2;
    for (int i = 0; i < count; ++i, out += 2) {
        const uint8_t* pair = picture.colour() + static_cast<size_t>(nearest(places[i].y, height, false)) * stride +
                              static_cast<size_t>(nearest(places[i].x, width, false)) * step;
        out[0] = pair[0];
        out[1] = pair[second];
        if (picture.format == MNN_IMAGE_NV21) std::swap(out[0], out[1]);
    }
}

void sampleYuv(const Picture& picture, const Sampling& sampling, const Walk& walk, int count, uint8_t* to) {
    uint8_t brightness[kTile], colours[kTile + 1];
    std::memset(brightness, sampling.padding, sizeof brightness);
    const Span span = spanOf(sampling, walk, count, picture.width, picture.height);
    if (span.first <= span.last) {
        Sampling plane = sampling;
        plane.filter = MNN_IMAGE_NEAREST;
        sampleColours(picture, plane, walkFrom(walk, span.first), span.last - span.first + 1, brightness + span.first);
    }
    sampleColourPlane(picture, walk, span, colours);
    // The official runtime's conversion, in units of 1/64: R = Y + 1.14 V, G = Y - 0.39 U - 0.58 V, B = Y + 2.03 U.
    for (int i = 0; i < count; ++i, to += 3) {
        const int y = 64 * brightness[i], u = colours[i / 2 * 2] - 128, v = colours[i / 2 * 2 + 1] - 128;
        to[0] = limited((y + 73 * v) >> 6);
        to[1] = limited((y - 25 * u - 37 * v) >> 6);
        to[2] = limited((y + 130 * u) >> 6);
    }
}

}  // namespace

void sampleTile(const Picture& picture, const Sampling& sampling, const Matrix& matrix, int64_t x, int64_t y, int count,
                uint8_t* to) {
    const Walk walk = matrix.walk(x, y, count);
    if (isYuv(picture.format)) return sampleYuv(picture, sampling, walk, count, to);
    const int channels = picture.channels();
    const Span span = spanOf(sampling, walk, count, picture.width, picture.height);
    if (sampling.wrap == MNN_IMAGE_ZERO) std::memset(to, sampling.padding, static_cast<size_t>(count) * channels);
    if (span.first <= span.last)
        sampleColours(picture, sampling, walkFrom(walk, span.first), span.last - span.first + 1,
                      to + span.first * channels);
}

}  // namespace mnnc::image
