// The steps of attention on rows between its products: scores with their mask, and their exponentials.
#include <cfloat>
#include <cmath>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/sequence/attention.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/sequence/attention_kernels.cpp"
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

// s = function(vector, row, place in the row), stored where kStores. Returns the largest. Lanes behind the end of a row
// do not count.
template <bool kStores, typename Function>
HWY_INLINE float replaceRow(float* s, size_t n, Function&& function) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    V top = k(-FLT_MAX), other = top;
    const auto replace = [&](size_t i) HWY_ATTR {
        const V v = function(hn::LoadU(d, s + i), i, lanes);
        if constexpr (kStores) hn::StoreU(v, d, s + i);
        return v;
    };
    size_t i = 0;
    for (; i + 2 * lanes <= n; i += 2 * lanes) {
        top = hn::Max(top, replace(i));
        other = hn::Max(other, replace(i + lanes));
    }
    if (i + lanes <= n) {
        top = hn::Max(top, replace(i));
        i += lanes;
    }
    if (i < n) {
        const V v = function(loadSome(s + i, n - i, 0), i, n - i);
        if constexpr (kStores) storeSome(v, s + i, n - i);
        other = hn::Max(other, hn::IfThenElse(hn::FirstN(d, n - i), v, k(-FLT_MAX)));
    }
    return hn::GetLane(hn::MaxOfLanes(d, hn::Max(top, other)));
}

void addMask(const ScoreRows& s, float scale, const float* mask, size_t maskStep, float* best) {
    const V factor = k(scale);
    for (int r = 0; r < s.rows; ++r) {
        const float* add = mask + r * maskStep;
        best[r] = replaceRow<true>(s.data + r * s.step, s.count, [&](V v, size_t i, size_t count) HWY_ATTR {
            return hn::MulAdd(v, factor, loadSome(add + i, count, 0));
        });
    }
}

void keepMask(const ScoreRows& s, float scale, const int32_t* mask, size_t maskStep, float dropped, bool keepsZeros,
              float* best) {
    const D d;
    const hn::RebindToSigned<D> di;
    const V factor = k(scale), replaced = k(dropped);
    for (int r = 0; r < s.rows; ++r) {
        // The bits of the integers pass through a float register unchanged.
        const auto* bits = reinterpret_cast<const float*>(mask + r * maskStep);
        best[r] = replaceRow<true>(s.data + r * s.step, s.count, [&](V v, size_t i, size_t count) HWY_ATTR {
            const auto isZero = hn::RebindMask(d, hn::Eq(hn::BitCast(di, loadSome(bits + i, count, 0)), hn::Zero(di)));
            const V scaled = hn::Mul(v, factor);
            return keepsZeros ? hn::IfThenElse(isZero, scaled, replaced) : hn::IfThenElse(isZero, replaced, scaled);
        });
    }
}

void expand(const float* row, const AttentionRun* runs, size_t key, size_t count, float* to) {
    const D d;
    const size_t lanes = hn::Lanes(d), end = key + count;
    for (size_t at = key; at < end; ++runs) {
        const auto begin = static_cast<size_t>(runs[0].key), next = static_cast<size_t>(runs[1].key);
        const size_t n = (next < end ? next : end) - at;
        const float* from = row + runs->place + (at - begin) * static_cast<size_t>(runs->step);
        if (runs->step == 0) {
            const V same = k(*from);
            for (size_t i = 0; i < n; i += lanes) hn::StoreU(same, d, to + i);
        } else {
            size_t i = 0;
            for (; i + lanes <= n; i += lanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
            if (i < n) hn::StoreU(loadSome(from + i, n - i, 0), d, to + i);
        }
        at += n;
        to += n;
    }
}

void largest(const ScoreRows& s, float scale, float* best) {
    for (int r = 0; r < s.rows; ++r)
        best[r] =
            scale * replaceRow<false>(s.data + r * s.step, s.count, [](V v, size_t, size_t) HWY_ATTR { return v; });
}

void exponentials(const ScoreRows& s, float scale, const float* shift, float* sum) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    const V factor = k(scale);
    for (int r = 0; r < s.rows; ++r) {
        float* row = s.data + r * s.step;
        const V shifts = k(shift[r]);
        V total = hn::Zero(d);
        size_t i = 0;
        for (; i + lanes <= s.count; i += lanes) {
            const V e = expUpTo88(hn::MulSub(hn::LoadU(d, row + i), factor, shifts));
            hn::StoreU(e, d, row + i);
            total = hn::Add(total, e);
        }
        if (i < s.count) {
            const size_t rest = s.count - i;
            const V e = expUpTo88(hn::MulSub(loadSome(row + i, rest, 0), factor, shifts));
            storeSome(e, row + i, rest);
            total = hn::Add(total, hn::IfThenElseZero(hn::FirstN(d, rest), e));
        }
        sum[r] = hn::GetLane(hn::SumOfLanes(d, total));
    }
}

void multiply(const ScoreRows& y, const float* factor) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    for (int r = 0; r < y.rows; ++r) {
        float* row = y.data + r * y.step;
        const V f = k(factor[r]);
        size_t i = 0;
        for (; i + lanes <= y.count; i += lanes) hn::StoreU(hn::Mul(hn::LoadU(d, row + i), f), d, row + i);
        if (i < y.count) storeSome(hn::Mul(loadSome(row + i, y.count - i, 0), f), row + i, y.count - i);
    }
}

}  // namespace

const AttentionKernels& attentionTable() {
    static constexpr AttentionKernels table = {addMask, keepMask, expand, largest, exponentials, multiply};
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
