// Taps of grids and weighted sums of taps. Every output is summed over its taps in ascending order, for any number of
// threads.
#include "backends/cpu/kernels/resample/sampling.h"

#include <cstring>

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/resample/sampling.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using DI = hn::ScalableTag<int32_t>;
using V = hn::Vec<D>;
using VI = hn::Vec<DI>;
constexpr size_t P = HWY_LANES(float);

// One end of an interval along an axis: its place, whether it is inside, its weight.
struct Tap {
    Tap() {}  // NOLINT(modernize-use-equals-default): a defaulted one is compiled without the instruction set
    VI index;
    V weight;
    hn::Mask<D> inside;
};

// Reflects c at `low` and low + span until it lies between them. Infinity becomes NaN.
HWY_INLINE V reflect(V c, float low, float span) {
    const D d;
    if (span <= 0) return hn::Zero(d);
    const V length = hn::Set(d, span);
    const V distance = hn::Abs(hn::Sub(c, hn::Set(d, low)));
    const V flips = hn::Floor(hn::Div(distance, length));
    const V rest = hn::Sub(distance, hn::Mul(flips, length));
    const V half = hn::Mul(flips, hn::Set(d, 0.5f));
    const hn::Mask<D> even = hn::Eq(hn::Floor(half), half);
    return hn::Add(hn::IfThenElse(even, rest, hn::Sub(length, rest)), hn::Set(d, low));
}

// Returns the position on an axis for grid coordinate g, finite, at most two elements outside of the axis.
HWY_INLINE V position(const GridPlan& plan, float extent, V g) {
    const D d;
    const V one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f), zero = hn::Zero(d);
    const V last = hn::Set(d, extent - 1);
    g = hn::IfThenElse(hn::IsNaN(g), hn::Set(d, -1.0f), g);
    V c = hn::Add(g, one);
    if (plan.alignCorners)
        c = hn::Mul(hn::Mul(c, half), last);
    else
        c = hn::Mul(hn::Sub(hn::Mul(c, hn::Set(d, extent)), one), half);
    if (plan.padding == GridPlan::Padding::Zeros) return hn::Min(hn::Max(c, hn::Set(d, -2.0f)), hn::Set(d, extent + 1));
    if (plan.padding == GridPlan::Padding::Reflection) {
        c = plan.alignCorners ? reflect(c, 0.0f, extent - 1) : reflect(c, -0.5f, extent);
        c = hn::IfThenElse(hn::IsNaN(c), zero, c);
    }
    return hn::Min(hn::Max(c, zero), last);
}

HWY_INLINE Tap tapAt(V place, float extent, V weight) {
    const D d;
    const DI di;
    const V zero = hn::Zero(d), last = hn::Set(d, extent - 1);
    Tap tap;
    tap.inside = hn::And(hn::Ge(place, zero), hn::Le(place, last));
    tap.index = hn::ConvertTo(di, hn::Min(hn::Max(place, zero), last));
    tap.weight = weight;
    return tap;
}

// Finds the taps of one axis: one of weight 1, or the two around the position.
HWY_INLINE void axisTaps(const GridPlan& plan, int axis, V g, Tap* taps) {
    const D d;
    const auto extent = static_cast<float>(plan.extent[axis]);
    const V c = position(plan, extent, g);
    if (plan.nearest) {
        taps[0] = tapAt(hn::Round(c), extent, hn::Set(d, 1.0f));
        return;
    }
    const V base = hn::Floor(c), fraction = hn::Sub(c, base);
    taps[0] = tapAt(base, extent, hn::Sub(hn::Set(d, 1.0f), fraction));
    taps[1] = tapAt(hn::Add(base, hn::Set(d, 1.0f)), extent, fraction);
}

// Finds the taps of P outputs.
template <int AXES>
HWY_INLINE void vectorTaps(const GridPlan& plan, const float* grid, size_t at, GridTaps& out) {
    const D d;
    const DI di;
    Tap taps[3][2];
    V x, y, z = hn::Zero(d);
    if (AXES == 2)
        hn::LoadInterleaved2(d, grid, x, y);
    else
        hn::LoadInterleaved3(d, grid, x, y, z);
    axisTaps(plan, 0, x, taps[0]);
    axisTaps(plan, 1, y, taps[1]);
    if (AXES == 3) axisTaps(plan, 2, z, taps[2]);
    const int each = plan.nearest ? 1 : 2;
    const VI width = hn::Set(di, plan.extent[0]), height = hn::Set(di, plan.extent[1]);
    int t = 0;
    for (int k = 0; k < (AXES == 3 ? each : 1); ++k)
        for (int j = 0; j < each; ++j)
            for (int i = 0; i < each; ++i, ++t) {
                VI row = taps[1][j].index;
                V weight = taps[1][j].weight;
                hn::Mask<D> inside = hn::And(taps[1][j].inside, taps[0][i].inside);
                if (AXES == 3) {
                    row = hn::Add(hn::Mul(taps[2][k].index, height), row);
                    weight = hn::Mul(taps[2][k].weight, weight);
                    inside = hn::And(inside, taps[2][k].inside);
                }
                const VI index = hn::Add(hn::Mul(row, width), taps[0][i].index);
                weight = hn::Mul(weight, taps[0][i].weight);
                hn::StoreU(hn::IfThenElse(hn::RebindMask(di, inside), index, hn::Set(di, -1)), di, out.index[t] + at);
                hn::StoreU(weight, d, out.weight[t] + at);
            }
}

template <int AXES>
HWY_INLINE void allTaps(const GridPlan& plan, const float* grid, int outputs, GridTaps& out) {
    static_assert(kGridOutputs % P == 0);
    float rest[AXES * P];
    for (size_t at = 0, count = static_cast<size_t>(outputs); at < count; at += P) {
        const float* from = grid + at * AXES;
        if (count - at < P) {
            std::memset(rest, 0, sizeof rest);
            std::memcpy(rest, from, (count - at) * AXES * sizeof(float));
            from = rest;
        }
        vectorTaps<AXES>(plan, from, at, out);
    }
}

void gridTaps(const GridPlan& plan, const float* grid, int outputs, GridTaps& taps) {
    if (plan.axes == 2)
        allTaps<2>(plan, grid, outputs, taps);
    else
        allTaps<3>(plan, grid, outputs, taps);
}

template <int TAPS>
HWY_INLINE void packedTaps(const float* src, const GridTaps& taps, int outputs, float* dst) {
    const D d;
    alignas(64) static constexpr float kZeros[P] = {};
    for (int x = 0; x < outputs; ++x) {
        V total = hn::Zero(d);
        for (int t = 0; t < TAPS; ++t) {
            const int32_t index = taps.index[t][x];
            const V value = hn::LoadU(d, index < 0 ? kZeros : src + static_cast<size_t>(index) * P);
            const V weight = hn::Set(d, taps.weight[t][x]);
            total = t == 0 ? hn::Mul(value, weight) : hn::MulAdd(value, weight, total);
        }
        hn::StoreU(total, d, dst + static_cast<size_t>(x) * P);
    }
}

void samplePacked(const float* src, const GridTaps& taps, int tapCount, int outputs, float* dst) {
    if (tapCount == 1)
        packedTaps<1>(src, taps, outputs, dst);
    else if (tapCount == 4)
        packedTaps<4>(src, taps, outputs, dst);
    else
        packedTaps<8>(src, taps, outputs, dst);
}

template <int TAPS>
HWY_INLINE void planeTaps(const float* src, const GridTaps& taps, int outputs, float* dst) {
    const D d;
    const DI di;
    float rest[P];
    for (size_t x = 0, count = static_cast<size_t>(outputs); x < count; x += P) {
        V total = hn::Zero(d);
        for (int t = 0; t < TAPS; ++t) {
            const VI index = hn::LoadU(di, taps.index[t] + x), zero = hn::Zero(di);
            const hn::Mask<D> inside = hn::RebindMask(d, hn::Gt(index, hn::Set(di, -1)));
            const V value = hn::IfThenElseZero(inside, hn::GatherIndex(d, src, hn::Max(index, zero)));
            const V weight = hn::LoadU(d, taps.weight[t] + x);
            total = t == 0 ? hn::Mul(value, weight) : hn::MulAdd(value, weight, total);
        }
        if (count - x >= P) {
            hn::StoreU(total, d, dst + x);
        } else {
            hn::StoreU(total, d, rest);
            std::memcpy(dst + x, rest, (count - x) * sizeof(float));
        }
    }
}

void samplePlane(const float* src, const GridTaps& taps, int tapCount, int outputs, float* dst) {
    if (tapCount == 1)
        planeTaps<1>(src, taps, outputs, dst);
    else if (tapCount == 4)
        planeTaps<4>(src, taps, outputs, dst);
    else
        planeTaps<8>(src, taps, outputs, dst);
}

template <bool MAXIMUM>
HWY_INLINE V joined(V total, const float* src, float weight) {
    const D d;
    const V value = hn::LoadU(d, src), w = hn::Set(d, weight);
    return MAXIMUM ? hn::Max(total, hn::Mul(value, w)) : hn::MulAdd(value, w, total);
}

// Sums BLOCKS blocks at once, so that several sums advance while each waits for its last addition.
template <bool MAXIMUM, int BLOCKS>
HWY_INLINE void joinBlocks(const TapSum& s, int64_t block) {
    const D d;
    const float* src = s.src + block * s.srcBlock;
    float* dst = s.dst + block * s.dstBlock;
    const V initial = hn::Set(d, s.initial);
    V a = s.first ? initial : hn::LoadU(d, dst), b = initial, c = initial, e = initial;
    if (BLOCKS == 4 && !s.first) {
        b = hn::LoadU(d, dst + s.dstBlock);
        c = hn::LoadU(d, dst + 2 * s.dstBlock);
        e = hn::LoadU(d, dst + 3 * s.dstBlock);
    }
    for (int t = 0; t < s.taps; ++t) {
        const float* at = src + static_cast<size_t>(s.index[t]) * P;
        const float weight = s.weight[t];
        a = joined<MAXIMUM>(a, at, weight);
        if (BLOCKS == 4) {
            b = joined<MAXIMUM>(b, at + s.srcBlock, weight);
            c = joined<MAXIMUM>(c, at + 2 * s.srcBlock, weight);
            e = joined<MAXIMUM>(e, at + 3 * s.srcBlock, weight);
        }
    }
    hn::StoreU(a, d, dst);
    if (BLOCKS == 4) {
        hn::StoreU(b, d, dst + s.dstBlock);
        hn::StoreU(c, d, dst + 2 * s.dstBlock);
        hn::StoreU(e, d, dst + 3 * s.dstBlock);
    }
}

template <bool MAXIMUM>
HWY_INLINE void join(const TapSum& s) {
    int64_t block = 0;
    for (; block + 4 <= s.blocks; block += 4) joinBlocks<MAXIMUM, 4>(s, block);
    for (; block < s.blocks; ++block) joinBlocks<MAXIMUM, 1>(s, block);
}

void tapSum(const TapSum& s) {
    join<false>(s);
}

void tapMaximum(const TapSum& s) {
    join<true>(s);
}

void boxMaximum(const BoxMaximum& box) {
    const D d;
    for (int64_t block = 0; block < box.blocks; ++block) {
        const float* src = box.src + block * box.srcBlock;
        V total = hn::LoadU(d, src + static_cast<size_t>(box.top * box.width + box.left) * P);
        for (int64_t y = box.top; y < box.bottom; ++y)
            for (int64_t x = box.left; x < box.right; ++x)
                total = hn::Max(total, hn::LoadU(d, src + static_cast<size_t>(y * box.width + x) * P));
        hn::StoreU(total, d, box.dst + block * box.dstBlock);
    }
}

}  // namespace

const SamplingKernels& samplingTable() {
    static constexpr SamplingKernels table = {static_cast<int>(P), gridTaps,  samplePacked, samplePlane, tapSum,
                                              tapMaximum,          boxMaximum};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const SamplingKernels& samplingKernels(Isa isa) {
    MNNC_SELECT(isa, samplingTable)
}
}  // namespace mnnc
#endif
