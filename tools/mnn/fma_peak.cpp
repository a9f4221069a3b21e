// Measures the rate of multiply-adds with loops of the widest vectors of the CPU.
#include "fma_peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tool {
namespace {

// Each loop keeps 12 sums in registers and returns the number of its floating-point operations: two for each
// multiply-add.
constexpr int kSums = 12, kSteps = 20000;

// The compiler removes a loop whose result is not used.
volatile float sink;

double plainLoop() {
    float sums[kSums * 4] = {};
    for (int step = 0; step < kSteps; ++step)
        for (float& sum : sums) sum = sum * 0.999f + 0.001f;
    sink = sums[0];
    return 2.0 * kSteps * kSums * 4;
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) double avx2Loop() {
    __m256 sums[kSums];
    for (__m256& sum : sums) sum = _mm256_setzero_ps();
    const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.001f);
    for (int step = 0; step < kSteps; ++step)
#pragma GCC unroll 12
        for (int i = 0; i < kSums; ++i) sums[i] = _mm256_fmadd_ps(sums[i], a, b);
    for (int i = 1; i < kSums; ++i) sums[0] = _mm256_add_ps(sums[0], sums[i]);
    sink = _mm256_cvtss_f32(sums[0]);
    return 2.0 * kSteps * kSums * 8;
}

__attribute__((target("avx512f"))) double avx512Loop() {
    __m512 sums[kSums];
    for (__m512& sum : sums) sum = _mm512_setzero_ps();
    const __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(0.001f);
    for (int step = 0; step < kSteps; ++step)
#pragma GCC unroll 12
        for (int i = 0; i < kSums; ++i) sums[i] = _mm512_fmadd_ps(sums[i], a, b);
    for (int i = 1; i < kSums; ++i) sums[0] = _mm512_add_ps(sums[0], sums[i]);
    sink = _mm512_cvtss_f32(sums[0]);
    return 2.0 * kSteps * kSums * 16;
}
#endif

using Loop = double (*)();

Loop widestLoop() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return avx512Loop;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2Loop;
#endif
    return plainLoop;
}

}  // namespace

double measuredPeak(int threads) {
    using Clock = std::chrono::steady_clock;
    const Loop loop = widestLoop();
    std::vector<double> rates(static_cast<size_t>(threads));
    std::atomic<int> waiting{threads};
    const auto measure = [&](size_t index) {
        --waiting;
        while (waiting.load() > 0) std::this_thread::yield();
        // Takes the best of short windows: other processes use some of the time.
        for (int window = 0; window < 10; ++window) {
            const Clock::time_point begin = Clock::now();
            double done = 0, seconds = 0;
            while (seconds < 0.005) {
                done += loop();
                seconds = std::chrono::duration<double>(Clock::now() - begin).count();
            }
            rates[index] = std::max(rates[index], done / seconds * 1e-9);
        }
    };
    std::vector<std::thread> others;
    others.reserve(rates.size());
    try {
        for (size_t i = 1; i < rates.size(); ++i) others.emplace_back(measure, i);
    } catch (const std::system_error&) {  // the process may have no more threads: those that it has measure
        waiting -= static_cast<int>(rates.size() - 1 - others.size());
    }
    measure(0);
    for (std::thread& other : others) other.join();
    double sum = 0;
    for (const double rate : rates) sum += rate;
    return sum;
}

}  // namespace tool
