// Maps coordinates of outputs to coordinates of inputs, and these to taps.
// https://onnx.ai/onnx/operators/onnx__Resize.html
#include <algorithm>
#include <cmath>

#include "ops/interp.h"

namespace mnnc {

namespace {

// A coordinate that misses an integer or a half by less than this does so because of rounding.
constexpr double kRounding = 1e-6;
// The largest relative difference between a number of exact arithmetic and its float32, after two operations in
// float32.
constexpr double kFloat32 = 4e-7;

// Keys' kernel: R. Keys, "Cubic convolution interpolation for digital image processing", 1981.
double cubicWeight(double a, double t) {
    if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
    if (t < 2) return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
    return 0;
}

bool isRounded(double exact, float stored) {
    return std::abs(exact - static_cast<double>(stored)) <= kFloat32 * std::max(1.0, std::abs(exact));
}

// Returns the exact ratio that was rounded to `stored`: the ratio of the extents, the ratio of the distances between
// their ends, or the reciprocal of a factor that the net had as float32.
double exactRatio(float stored, bool alignCorners, int64_t in, int64_t out) {
    const double scale = static_cast<double>(stored);
    const auto misses = [&](double exact) { return std::abs(exact - scale) > kFloat32 * exact; };
    const double whole = static_cast<double>(in) / static_cast<double>(out);
    const double ends = out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0.0;
    if (!misses(whole) && (misses(ends) || !alignCorners)) return whole;
    if (!misses(ends)) return ends;
    const float factor = 1.0f / stored;
    return std::isfinite(factor) && factor > 0 ? 1.0 / static_cast<double>(factor) : scale;
}

int tapCount(ResizeType type) {
    return type == ResizeType::Linear ? 2 : type == ResizeType::Cubic ? 4 : 1;
}

}  // namespace

AxisMap mapAxis(const InterpParams& params, int64_t in, int64_t out, double ratio) {
    AxisMap map;
    map.cubicA = params.cubicA;
    map.a = ratio;
    switch (params.mode) {
        case CoordinateMode::AlignCorners:
            map.a = out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0.0;
            break;
        case CoordinateMode::PytorchHalfPixels:
            if (out == 1)
                map.a = 0;
            else
                map.b = 0.5 * ratio - 0.5;
            break;
        case CoordinateMode::HalfPixels:
            map.b = 0.5 * ratio - 0.5;
            break;
        case CoordinateMode::TensorflowHalfPixels:
            map.b = 0.5 * ratio;
            break;
        case CoordinateMode::NotSet:
        case CoordinateMode::Asymmetric:
            break;
    }
    return map;
}

AxisMap loweredAxis(const InterpParams& params, int axis, int64_t in, int64_t out) {
    AxisMap map;
    map.cubicA = params.cubicA;
    map.a = exactRatio(params.scale[axis], params.mode == CoordinateMode::AlignCorners, in, out);
    map.b = static_cast<double>(params.offset[axis]);
    // Half pixels produce one of these offsets for a scale.
    if (isRounded(0.5 * map.a - 0.5, params.offset[axis])) map.b = 0.5 * map.a - 0.5;
    if (isRounded(0.5 * map.a, params.offset[axis])) map.b = 0.5 * map.a;
    if (params.offset[axis] == 0) map.b = 0;
    return map;
}

AxisTaps makeAxisTaps(ResizeType type, const AxisMap& map, int64_t in, int64_t out) {
    AxisTaps result;
    result.taps = tapCount(type);
    const auto total = static_cast<size_t>(checkedMul(out, result.taps, "resize taps"));
    result.index.reserve(total);
    result.weight.reserve(total);
    const auto last = static_cast<double>(in - 1);
    const auto add = [&](double position, double weight) {
        // Clamped before the conversion to an integer: the position may be NaN or far out of range.
        const auto index = static_cast<int64_t>(position > 0 ? std::min(position, last) : 0.0);
        result.index.push_back(static_cast<int32_t>(index));
        result.weight.push_back(static_cast<float>(weight));
    };
    for (int64_t o = 0; o < out; ++o) {
        const double s = static_cast<double>(o) * map.a + map.b;
        const double base = std::floor(s);
        const double f = s - base;
        switch (type) {
            case ResizeType::NearestFloor:
                add(std::floor(s + kRounding), 1);
                break;
            case ResizeType::NearestRound:  // halves round down
                add(std::ceil(s - 0.5 - kRounding), 1);
                break;
            case ResizeType::Linear:
                add(base, 1 - f);
                add(base + 1, f);
                break;
            case ResizeType::Cubic:
                for (int tap = -1; tap < 3; ++tap)
                    add(base + tap, cubicWeight(static_cast<double>(map.cubicA), std::abs(f - tap)));
                break;
        }
    }
    return result;
}

}  // namespace mnnc
