// Transposed depthwise convolutions over one block of channels. An output takes every tap that reads a place of the
// input: with a stride, the taps of its phase. Included once per instruction set, hence the toggling guard.
#if defined(MNNC_DEPTHWISE_TRANSPOSED_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNNC_DEPTHWISE_TRANSPOSED_INL_H
#undef MNNC_DEPTHWISE_TRANSPOSED_INL_H
#else
#define MNNC_DEPTHWISE_TRANSPOSED_INL_H
#endif

#include <algorithm>
#include <numeric>

#include "backends/cpu/kernels/depthwise/depthwise_tiles-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// The taps of an axis that outputs of one phase take. Tap i is first + i * step, and reads the input `move` places
// before the tap that precedes it.
struct PhaseTaps {
    int first, step, count, place, move;

    // `origin`: the output's position plus the padding.
    PhaseTaps(int origin, int stride, int dilate, int taps) {
        const int period = stride / std::gcd(stride, dilate), distinct = std::min(period, taps);
        first = 0;
        while (first < distinct && (origin - first * dilate) % stride != 0) ++first;
        step = period;
        count = first < distinct ? (taps - first + period - 1) / period : 0;
        place = count ? (origin - first * dilate) / stride : 0;
        move = dilate / std::gcd(stride, dilate);
    }
};

// The taps begin .. end that read inside of a map when the output is `by` places further.
struct TapSpan {
    int begin, end;

    TapSpan(const PhaseTaps& taps, int by, int extent) {
        const int at = taps.place + by, beyond = at - (extent - 1);
        begin = beyond > 0 ? (beyond + taps.move - 1) / taps.move : 0;
        end = at < 0 ? 0 : std::min(taps.count, at / taps.move + 1);
        begin = std::min(begin, end);
    }
    bool operator==(const TapSpan&) const = default;
};

struct PhaseRow {
    const DepthwiseArgs& t;
    const PhaseTaps &down, &across;
    TapSpan rows;
    V bias, lo, hi;
};

// Computes C outputs of a phase from the one `by` places after its first.
template <int C>
HWY_INLINE void phaseOutputs(const PhaseRow& p, const TapSpan& columns, int by, float* dst, const float* residual) {
    const D d;
    const ConvShape& s = *p.t.shape;
    V acc[C];
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) acc[c] = p.bias;
    for (int i = p.rows.begin; i < p.rows.end; ++i) {
        const float* row = p.t.src + (ptrdiff_t(p.down.place - i * p.down.move) * s.iw + by + p.across.place) * P;
        const float* w = p.t.w + (ptrdiff_t(p.down.first + i * p.down.step) * s.kw + p.across.first) * P;
        for (int k = columns.begin; k < columns.end; ++k) {
            const V tap = hn::LoadU(d, w + ptrdiff_t(k) * p.across.step * P);
            const float* from = row - ptrdiff_t(k) * p.across.move * P;
            HWY_UNROLL(8)
            for (int c = 0; c < C; ++c) acc[c] = hn::MulAdd(hn::LoadU(d, from + c * P), tap, acc[c]);
        }
    }
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) {
        V one[1] = {acc[c]};
        const ptrdiff_t at = ptrdiff_t(by + c) * s.strideW * P;
        finishRow<1>(d, one, dst + at, residual ? residual + at : nullptr, p.lo, p.hi, p.t.act);
    }
}

void depthwiseTransposedF32(const DepthwiseArgs& t) {
    constexpr int kMany = 8, kFew = 3;
    const D d;
    const ConvShape& s = *t.shape;
    const V lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi), bias = hn::LoadU(d, t.bias);
    for (int px = 0; px < std::min(s.strideW, s.ow); ++px) {
        const PhaseTaps across(px + s.padLeft, s.strideW, s.dilateW, s.kw);
        const int outputs = (s.ow - px + s.strideW - 1) / s.strideW;
        for (int oy = t.rowBegin; oy < t.rowEnd; ++oy) {
            const PhaseTaps down(oy + s.padTop, s.strideH, s.dilateH, s.kh);
            const PhaseRow row{t, down, across, TapSpan(down, 0, s.ih), bias, lo, hi};
            const ptrdiff_t at = (ptrdiff_t(oy) * s.ow + px) * P;
            float* const dst = t.dst + at;
            const float* const residual = t.residual ? t.residual + at : nullptr;
            for (int by = 0; by < outputs;) {
                const TapSpan columns(across, by, s.iw);
                // Returns whether `count` neighbours have the same taps, so that they can be computed side by side.
                const auto alike = [&](int count) {
                    return by + count <= outputs && TapSpan(across, by + count - 1, s.iw) == columns;
                };
                if (alike(kMany)) {
                    phaseOutputs<kMany>(row, columns, by, dst, residual);
                    by += kMany;
                } else if (alike(kFew)) {
                    phaseOutputs<kFew>(row, columns, by, dst, residual);
                    by += kFew;
                } else {
                    phaseOutputs<1>(row, columns, by, dst, residual);
                    ++by;
                }
            }
        }
    }
    for (int oy = t.rowBegin; oy < t.rowEnd; ++oy) activateRows(t, oy, oy + 1);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
