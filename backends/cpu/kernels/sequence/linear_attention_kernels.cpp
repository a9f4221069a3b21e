// The rows of the gated delta rule and of short convolutions.
#include <cmath>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/sequence/linear_attention.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/sequence/linear_attention_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "backends/cpu/kernels/elementwise/elementwise_math-inl.h"

// GCC 12 warns about undefined operands of its own intrinsics (GCC PR 105593).
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// Calls function(place, lanes) for n numbers, vector by vector; the last vector may be a part of one.
template <typename Function>
HWY_INLINE void forVectors(size_t n, Function&& function) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    for (size_t i = 0; i < n; i += lanes) function(i, n - i < lanes ? n - i : lanes);
}

// Returns the sums of a vector of channels from i on over the taps.
HWY_INLINE V convolved(const float* const* rows, const float* weights, size_t taps, size_t channels, size_t i,
                       size_t count) {
    V sum = k(0);
    for (size_t t = 0; t < taps; ++t)
        sum = hn::MulAdd(loadSome(weights + t * channels + i, count, 0), loadSome(rows[t] + i, count, 0), sum);
    return sum;
}

void convolve(const float* const* rows, const float* weights, size_t taps, size_t channels, float* y) {
    forVectors(channels, [&](size_t i, size_t count) HWY_ATTR {
        storeSome(vsilu(convolved(rows, weights, taps, channels, i, count)), y + i, count);
    });
}

void convolveScaled(const float* const* rows, const float* weights, size_t taps, size_t channels, const float* factors,
                    float* y) {
    forVectors(channels, [&](size_t i, size_t count) HWY_ATTR {
        const V sum = convolved(rows, weights, taps, channels, i, count);
        storeSome(hn::Mul(loadSome(factors + i, count, 0), sum), y + i, count);
    });
}

void normalise(float* x, size_t n, float factor) {
    constexpr float kEpsilon = 1e-6f;  // the value that transformers uses
    V sum = k(0);
    forVectors(n, [&](size_t i, size_t count) HWY_ATTR {
        const V v = loadSome(x + i, count, 0);
        sum = hn::MulAdd(v, v, sum);
    });
    const V scale = k(factor / std::sqrt(hn::GetLane(hn::SumOfLanes(D(), sum)) + kEpsilon));
    forVectors(n, [&](size_t i, size_t count)
                      HWY_ATTR { storeSome(hn::Mul(loadSome(x + i, count, 0), scale), x + i, count); });
}

void deltaRow(const DeltaRow& row) {
    const size_t n = row.valueDepth;
    const V fade = k(row.fade), learn = k(row.learn);
    // A vector of columns is computed for all rows of the matrix at a time, so that sums stay in registers.
    forVectors(n, [&](size_t i, size_t count) HWY_ATTR {
        V known = k(0);
        for (size_t j = 0; j < row.keyDepth; ++j) {
            float* const at = row.matrix + j * n + i;
            const V faded = hn::Mul(loadSome(at, count, 0), fade);
            storeSome(faded, at, count);
            known = hn::MulAdd(faded, k(row.k[j]), known);
        }
        const V correction = hn::Mul(learn, hn::Sub(loadSome(row.v + i, count, 0), known));
        V out = k(0);
        for (size_t j = 0; j < row.keyDepth; ++j) {
            float* const at = row.matrix + j * n + i;
            const V learnt = hn::MulAdd(k(row.k[j]), correction, loadSome(at, count, 0));
            storeSome(learnt, at, count);
            out = hn::MulAdd(learnt, k(row.q[j]), out);
        }
        storeSome(out, row.out + i, count);
    });
}

}  // namespace

const LinearAttentionKernels& linearAttentionTable() {
    static constexpr LinearAttentionKernels table = {convolve, convolveScaled, normalise, deltaRow};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const LinearAttentionKernels& linearAttentionKernels(Isa isa) {
    MNNC_SELECT(isa, linearAttentionTable)
}
}  // namespace mnnc
#endif
