// Multiplies int32 by a real factor in fixed point as TFLite's kernels (gemmlowp) do.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mnnc {

struct FixedFactor {
    int32_t multiplier = 0;  // in units of 2^-31
    int shift = 0;           // positive: to the left

    static constexpr int kMaxShift = 31;

    // Returns the nearest value to a factor that is finite and not negative.
    static FixedFactor of(double factor) {
        FixedFactor result;
        const double fraction = std::frexp(factor, &result.shift);
        auto whole = static_cast<int64_t>(std::round(fraction * 2147483648.0));
        if (whole == int64_t{1} << 31) {
            whole /= 2;
            ++result.shift;
        }
        if (whole == 0 || result.shift < -kMaxShift) return {};
        result.shift = std::min(result.shift, kMaxShift);
        result.multiplier = static_cast<int32_t>(whole);
        return result;
    }

    int32_t times(int32_t value) const noexcept {
        constexpr int64_t kMin = std::numeric_limits<int32_t>::min(), kMax = std::numeric_limits<int32_t>::max();
        const int64_t shifted = std::clamp(int64_t{value} * (int64_t{1} << std::max(shift, 0)), kMin, kMax);
        if (shifted == kMin && multiplier == kMin) return static_cast<int32_t>(kMax);
        const int64_t product = shifted * multiplier;
        const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
        const int64_t high = (product + nudge) / (int64_t{1} << 31);
        const int right = std::max(-shift, 0);
        const int64_t mask = (int64_t{1} << right) - 1;
        return static_cast<int32_t>((high >> right) + ((high & mask) > (mask >> 1) + (high < 0 ? 1 : 0) ? 1 : 0));
    }
};

}  // namespace mnnc
