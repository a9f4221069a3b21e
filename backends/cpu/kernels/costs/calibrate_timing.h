// Times the kernels that a calibration measures, and makes the memory that they work on.
#pragma once
#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>

#include "backends/cpu/kernels/cpu_costs.h"
#include "backends/cpu/kernels/kernels.h"
#include "base/aligned.h"

namespace mnnc {

inline double secondsNow() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns memory filled with moderate numbers: zeros and subnormal numbers would change the times.
inline AlignedBuffer filled(size_t floats) {
    AlignedBuffer memory(static_cast<int64_t>(floats * sizeof(float)));
    for (size_t i = 0; i < floats; ++i) memory.as<float>()[i] = 0.5f + static_cast<float>(i % 1009) / 1024.0f;
    return memory;
}

// Returns the seconds of one call of the body: the shortest of several timings, each long enough for the clock.
template <typename Body>
double secondsOf(const std::function<void()>& check, Body&& body) {
    constexpr double kTiming = 3e-4;
    constexpr int kTimings = 40;
    check();
    body();
    double best = std::numeric_limits<double>::infinity();
    int calls = 1;
    for (int i = 0; i < kTimings; ++i) {
        const double begin = secondsNow();
        for (int call = 0; call < calls; ++call) body();
        const double taken = secondsNow() - begin;
        if (taken < kTiming && calls < 1 << 20) {
            calls *= 2;
            --i;
            continue;
        }
        best = std::min(best, taken / calls);
    }
    return best;
}

// Measures those costs of calibrate() that concern int8. `cycle`: seconds.
void calibrateInt8(const Kernels& k, double cycle, const std::function<void()>& check, CycleCosts& costs);

}  // namespace mnnc
