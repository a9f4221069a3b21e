// The rows of attention between its products: scores with their mask, and their exponentials.
#include <cfloat>
#include <cmath>

#include "backends/cpu/kernels/attention.h"
#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/attention_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "backends/cpu/kernels/elementwise_math-inl.h"

// GCC 12 warns of its own intrinsics' undefined operands (GCC PR 105593).
#if HWY_COMPILER_GCC_ACTUAL
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// s[i] = f(i, s[i]) for vectors at i; returns the largest. Lanes behind the end become the lowest float.
template <typename Function>
HWY_INLINE float replaceScores(float* s, size_t n, Function&& function) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    V top = k(-FLT_MAX);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const V v = function(i, lanes, hn::LoadU(d, s + i));
        hn::StoreU(v, d, s + i);
        top = hn::Max(top, v);
    }
    if (i < n) {
        storeSome(function(i, n - i, loadSome(s + i, n - i, 0)), s + i, n - i);
        top = hn::Max(top, loadSome(s + i, n - i, -FLT_MAX));
    }
    return hn::GetLane(hn::MaxOfLanes(d, top));
}

float addMask(float* s, const float* add, size_t n, float scale) {
    const V factor = k(scale);
    return replaceScores(s, n, [&](size_t i, size_t count, V v) HWY_ATTR {
        return hn::MulAdd(v, factor, loadSome(add + i, count, 0));
    });
}

float keepMask(float* s, const int32_t* keep, size_t n, float scale) {
    const D d;
    const hn::RebindToSigned<D> di;
    const V factor = k(scale);
    return replaceScores(s, n, [&](size_t i, size_t count, V v) HWY_ATTR {
        // The bits of the integers pass through a float register unchanged.
        const auto bits = hn::BitCast(di, loadSome(reinterpret_cast<const float*>(keep + i), count, 0));
        const auto dropped = hn::RebindMask(d, hn::Eq(bits, hn::Zero(di)));
        return hn::IfThenElse(dropped, k(-FLT_MAX), hn::Mul(v, factor));
    });
}

float scaleScores(float* s, size_t n, float scale) {
    const V factor = k(scale);
    return replaceScores(s, n, [&](size_t, size_t, V v) HWY_ATTR { return hn::Mul(v, factor); });
}

float exponentials(float* s, size_t n, float shift) {
    return hn::GetLane(hn::SumOfLanes(D(), exponentials(s, s, n, k(shift))));
}

void multiply(float* y, size_t n, float factor) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    const V f = k(factor);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, y + i), f), d, y + i);
    if (i < n) storeSome(hn::Mul(loadSome(y + i, n - i, 0), f), y + i, n - i);
}

}  // namespace

const AttentionKernels& attentionTable() {
    static constexpr AttentionKernels table = {addMask, keepMask, scaleScores, exponentials, multiply};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const AttentionKernels& attentionKernels(Isa isa) {
    MNNC_SELECT(isa, attentionTable)
}
}  // namespace mnnc
#endif
