// Coordinates to taps, in float32 like the runtimes the models were made for.
// The cubic base is truncated while its fraction is floored: for negative coordinates the taps stand one too
// far right.
#include <algorithm>
#include <cmath>

#include "ops/interp.h"

namespace mnnc {

namespace {

// Keys with a = -0.75.
float cubicWeight(float t) {
    constexpr float a = -0.75f;
    if (t <= 1.0f) return ((a + 2.0f) * t - (a + 3.0f)) * t * t + 1.0f;
    if (t < 2.0f) return ((a * t - 5.0f * a) * t + 8.0f * a) * t - 4.0f * a;
    return 0.0f;
}

int tapCount(ResizeType type) {
    return type == ResizeType::Linear ? 2 : type == ResizeType::Cubic ? 4 : 1;
}

}  // namespace

AxisTaps makeAxisTaps(ResizeType type, const AxisMap& map, int64_t in, int64_t out) {
    AxisTaps result;
    result.taps = tapCount(type);
    const auto total = static_cast<size_t>(checkedMul(out, result.taps, "resize taps"));
    result.index.reserve(total);
    result.weight.reserve(total);
    const float last = static_cast<float>(in - 1);
    const auto add = [&](float position, float weight) {
        // Clamped as float first: the position may be NaN or far outside of the range of an integer.
        const auto index = static_cast<int64_t>(position > 0 ? std::min(position, last) : 0.0f);
        result.index.push_back(static_cast<int32_t>(std::min(index, in - 1)));
        result.weight.push_back(weight);
    };
    for (int64_t o = 0; o < out; ++o) {
        const float s = static_cast<float>(o) * map.a + map.b;
        const float base = std::floor(s);
        const float f = s - base;
        switch (type) {
            case ResizeType::NearestFloor:
                add(base, 1.0f);
                break;
            case ResizeType::NearestRound:
                add(std::floor(s + 0.499f), 1.0f);
                break;
            case ResizeType::Linear:
                add(base, 1.0f - f);
                add(base + 1.0f, f);
                break;
            case ResizeType::Cubic: {
                const float from = std::trunc(s);
                add(from - 1.0f, cubicWeight(1.0f + f));
                add(from, cubicWeight(f));
                add(from + 1.0f, cubicWeight(1.0f - f));
                add(from + 2.0f, cubicWeight(2.0f - f));
                break;
            }
        }
    }
    return result;
}

}  // namespace mnnc
