// Taps and divisors of a pooling, axis by axis.
#pragma once
#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/resample/pooling.h"
#include "ops/pooling.h"

namespace mnnc::cpu {

inline int clampInt(int64_t value, int low, int high) {
    return static_cast<int>(std::clamp<int64_t>(value, low, high));
}

// The taps and the divisor of every output position.
struct AxisTable {
    std::vector<PoolSpan> taps;
    std::vector<int64_t> counts;

    AxisTable() = default;
    AxisTable(const PoolAxis& a, bool average) {
        const auto outputs = static_cast<size_t>(a.out);
        taps.reserve(outputs);
        counts.reserve(outputs);
        for (int64_t o = 0; o < a.out; ++o) {
            const int64_t from = o * a.stride - a.begin;
            PoolSpan span{clampInt(from, 0, a.in), clampInt(from + a.kernel, 0, a.in)};
            // The maximum of a window outside of the map is the element at the nearest edge.
            if (!average && span.first >= span.last) {
                span.first = clampInt(from, 0, a.in - 1);
                span.last = span.first + 1;
            }
            taps.push_back(span);
            counts.push_back(std::max<int64_t>(0, poolCount(a, o)));
        }
    }
};

}  // namespace mnnc::cpu
