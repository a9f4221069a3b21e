// Rounding of activations to 16 bits with a scale (AVX2).
#include "backends/cpu/kernels/w8a16/w8a16_kernels.h"

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/w8a16/w8a16_scale.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/w8a16/w8a16_avx2_rounding_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

#if HWY_TARGET == HWY_AVX2
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int P = 8;
using D = hn::FixedTag<float, P>;
using V = hn::Vec<D>;
using DU = hn::RebindToUnsigned<D>;
using VU = hn::Vec<DU>;
using DI = hn::RebindToSigned<D>;

// The range of vectors, lane by lane.
struct Ranges {
    VU largest, signs;

    // It is written out, because GCC compiles its own for another instruction set.
    HWY_INLINE Ranges() : largest(hn::Zero(DU())), signs(hn::Zero(DU())) {}
    HWY_INLINE void take(V x) {
        const VU bits = hn::BitCast(DU(), x);
        largest = hn::Max(largest, hn::And(bits, hn::Set(DU(), 0x7fffffff)));
        signs = hn::Or(signs, bits);
    }
    HWY_INLINE ActivationRange joined() const {
        const auto negative = hn::Lt(hn::BitCast(DI(), signs), hn::Zero(DI()));
        return {hn::GetLane(hn::MaxOfLanes(DU(), largest)), hn::AllFalse(DI(), negative) ? 0 : 0x80000000u};
    }
};

HWY_INLINE void storeRounded(V x, V inverse, hn::Vec<DI> zero, int16_t* to) {
    const auto rounded = hn::Add(hn::Vec<DI>{_mm256_cvtps_epi32(hn::Mul(x, inverse).raw)}, zero);
    hn::StoreU(hn::DemoteTo(hn::Rebind<int16_t, DI>(), rounded), hn::Rebind<int16_t, DI>(), to);
}

ActivationRange rangeF32(const float* src, size_t pixels, int lanes) {
    Ranges ranges;
    const auto some = hn::FirstN(D(), static_cast<size_t>(lanes));
    for (size_t i = 0; i < pixels; ++i) ranges.take(hn::MaskedLoad(some, D(), src + i * P));
    return ranges.joined();
}

void roundS16(const float* src, int pixels, int lanes, const ActivationScale& scale, int16_t* dst, float* sum) {
    const auto some = hn::FirstN(D(), static_cast<size_t>(lanes));
    const V inverse = hn::Set(D(), scale.inverse);
    const auto zero = hn::Set(DI(), scale.zero);
    for (int i = 0; i < pixels; ++i) {
        const V x = hn::MaskedLoad(some, D(), src + ptrdiff_t(i) * P);
        storeRounded(x, inverse, zero, dst + ptrdiff_t(i) * P);
        if (sum) sum[i] += hn::GetLane(hn::SumOfLanes(D(), x));
    }
}

void roundPixelsS16(const RoundPixelsArgs& t) {
    const D d;
    const int whole = t.channels / P, rest = t.channels % P;
    const auto some = hn::FirstN(d, static_cast<size_t>(rest));
    for (int i = 0; i < t.pixels; ++i) {
        const float* src = t.src + i * t.pixelStride;
        const float* const last = src + whole * t.blockStride;
        Ranges ranges[2];  // of every second block, because each maximum waits for the one before
        V sum = hn::Zero(d);
        for (int b = 0; b < whole; ++b) {
            const V x = hn::LoadU(d, src + b * t.blockStride);
            ranges[b % 2].take(x);
            sum = hn::Add(sum, x);
        }
        if (rest > 0) {
            const V x = hn::MaskedLoad(some, d, last);
            ranges[0].take(x);
            sum = hn::Add(sum, x);
        }
        ranges[0].take(hn::BitCast(d, hn::Or(ranges[1].largest, hn::And(ranges[1].signs, hn::Set(DU(), 0x80000000u)))));
        const ActivationScale scale = activationScale(ranges[0].joined());
        t.scale[i] = scale.scale;
        t.offset[i] = scale.offset;
        if (t.sum) t.sum[i] = hn::GetLane(hn::SumOfLanes(d, sum));
        const V inverse = hn::Set(d, scale.inverse);
        const auto zero = hn::Set(DI(), scale.zero);
        int16_t* dst = t.dst + ptrdiff_t(i) * P;
        for (int b = 0; b < whole; ++b)
            storeRounded(hn::LoadU(d, src + b * t.blockStride), inverse, zero, dst + b * t.dstBlockStride);
        if (rest > 0) storeRounded(hn::MaskedLoad(some, d, last), inverse, zero, dst + whole * t.dstBlockStride);
    }
}

}  // namespace

const W8A16Kernels& w8a16Table() {
    static const W8A16Kernels table = {2,
                                       *w8a16Panels(Isa::Avx2, 8),
                                       *w8a16Panels(Isa::Avx2, 4),
                                       &roundPixelsS16,
                                       &rangeF32,
                                       &activationScale,
                                       &roundS16,
                                       nullptr,
                                       &w8a16Avx2RowKernels()};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE && (HWY_TARGETS & HWY_AVX2)
namespace mnnc {
const W8A16Kernels& w8a16Avx2Kernels() {
    return N_AVX2::w8a16Table();
}
}  // namespace mnnc
#endif
