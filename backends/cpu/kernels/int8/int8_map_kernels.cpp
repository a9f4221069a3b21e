// Element-wise functions of int8 codes: by a table, by factors of channels, and weighted neighbours (resizing). No step
// uses a fused multiplication and addition, so that every instruction set gives the same codes.
#include <cstring>

#include "backends/cpu/kernels/int8/int8_kernels.h"

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/int8/int8_map_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/int8/int8_math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE void lookupRest(const int8_t* src, int8_t* dst, size_t count, const int8_t* table) {
    for (size_t i = 0; i < count; ++i) dst[i] = table[static_cast<uint8_t>(src[i])];
}

#if HWY_TARGET == HWY_EMU128
void lookupS8(const int8_t* src, int8_t* dst, size_t count, const int8_t* table) {
    lookupRest(src, dst, count, table);
}
#else
// Looks codes up in sixteen parts of sixteen bytes. A part gives its value where the upper half of the code is the
// part's number, and 0 elsewhere.
void lookupS8(const int8_t* src, int8_t* dst, size_t count, const int8_t* table) {
    const hn::ScalableTag<uint8_t> d;
    const auto* rows = reinterpret_cast<const uint8_t*>(table);
    const size_t lanes = hn::Lanes(d);
    const auto limit = hn::Set(d, uint8_t{0x70});
    size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto x = hn::LoadU(d, reinterpret_cast<const uint8_t*>(src) + i);
        auto y = hn::Zero(d);
        HWY_UNROLL(16)
        for (int k = 0; k < 16; ++k) {
            // Bit 7 is set where the upper half differs from k.
            auto at = hn::SaturatedAdd(hn::Xor(x, hn::Set(d, static_cast<uint8_t>(k << 4))), limit);
#if !(HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4)
            at = hn::And(at, hn::Set(d, uint8_t{0x8F}));
#endif
            y = hn::Or(y, hn::TableLookupBytesOr0(hn::LoadDup128(d, rows + k * 16), at));
        }
        hn::StoreU(y, d, reinterpret_cast<uint8_t*>(dst) + i);
    }
    lookupRest(src + i, dst + i, count - i, table);
}
#endif

#if HWY_TARGET == HWY_AVX3
// Looks codes up in two halves of 128 bytes. Highway's target has no VBMI; the instruction is used where the CPU has
// it.
void lookupVbmiS8(const int8_t* src, int8_t* dst, size_t count, const int8_t* table) {
    const __m512i t0 = _mm512_loadu_si512(table), t1 = _mm512_loadu_si512(table + 64),
                  t2 = _mm512_loadu_si512(table + 128), t3 = _mm512_loadu_si512(table + 192);
    size_t i = 0;
    for (; i + 64 <= count; i += 64) {
        const __m512i x = _mm512_loadu_si512(src + i);
        __m512i low = x, high = x;
        asm("vpermi2b %2, %1, %0" : "+v"(low) : "v"(t0), "v"(t1));
        asm("vpermi2b %2, %1, %0" : "+v"(high) : "v"(t2), "v"(t3));
        _mm512_storeu_si512(dst + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(x), low, high));
    }
    lookupRest(src + i, dst + i, count - i, table);
}
constexpr auto kLookupVbmi = &lookupVbmiS8;
#else
constexpr decltype(Int8Kernels::lookup) kLookupVbmi = nullptr;
#endif

HWY_INLINE VF loadFloats(const int8_t* from) {
    return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::LoadU(DB(), from)));
}

template <bool Leaky>
void byLane(const int8_t* src, int8_t* dst, size_t blocks, const Int8AffineArgs& t) {
    const DF d;
    const VF zeroIn = hn::Set(d, t.zeroIn), scaleIn = hn::Set(d, t.scaleIn), inverse = hn::Set(d, t.inverse),
             zero = hn::Set(d, t.zero), lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi);
    const VF factor = hn::LoadU(d, t.factor), term = Leaky ? hn::Zero(d) : hn::LoadU(d, t.term);
    const auto value = [&](const int8_t* from) HWY_ATTR {
        const VF x = hn::Mul(hn::Sub(loadFloats(from), zeroIn), scaleIn), product = hn::Mul(x, factor);
        const VF y = Leaky ? hn::IfThenElse(hn::Lt(x, hn::Zero(d)), product, x) : hn::Add(product, term);
        return hn::Add(hn::Mul(y, inverse), zero);
    };
    size_t i = 0;
#if HWY_TARGET == HWY_AVX3
    const __m512i lo8 = _mm512_set1_epi8(static_cast<char>(t.lo)), hi8 = _mm512_set1_epi8(static_cast<char>(t.hi));
    for (; i + 4 <= blocks; i += 4) {
        const int8_t* from = src + i * P;
        storeFour(rounded(value(from)), rounded(value(from + P)), rounded(value(from + 2 * P)),
                  rounded(value(from + 3 * P)), lo8, hi8, dst + i * P);
    }
#endif
    for (; i < blocks; ++i) store(value(src + i * P), lo, hi, dst + i * P);
}

void affineS8(const int8_t* src, int8_t* dst, size_t blocks, const Int8AffineArgs& t) {
    byLane<false>(src, dst, blocks, t);
}
void leakyS8(const int8_t* src, int8_t* dst, size_t blocks, const Int8AffineArgs& t) {
    byLane<true>(src, dst, blocks, t);
}

void resizeLinearS8(const Int8ResizeArgs& t) {
    const DF d;
    const VF zeroIn = hn::Set(d, t.zeroIn), ratio = hn::Set(d, t.ratio), zero = hn::Set(d, t.zero),
             lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi);
    for (int x = 0; x < t.outputs; ++x) {
        const ptrdiff_t left = ptrdiff_t(t.index[2 * x]) * P, right = ptrdiff_t(t.index[2 * x + 1]) * P;
        const VF a = hn::Set(d, t.weight[2 * x]), b = hn::Set(d, t.weight[2 * x + 1]);
        VF total = hn::Zero(d);
        for (int y = 0; y < t.rowCount; ++y) {
            const VF first = hn::Mul(hn::Sub(loadFloats(t.rows[y] + left), zeroIn), a),
                     second = hn::Mul(hn::Sub(loadFloats(t.rows[y] + right), zeroIn), b);
            total = hn::Add(total, hn::Mul(hn::Add(first, second), hn::Set(d, t.rowWeights[y])));
        }
        store(hn::Add(hn::Mul(total, ratio), zero), lo, hi, t.dst + ptrdiff_t(x) * P);
    }
}

}  // namespace

const Int8MapKernels& int8MapTable() {
    static constexpr Int8MapKernels table = {&lookupS8, &affineS8, &leakyS8, &resizeLinearS8, kLookupVbmi};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const Int8MapKernels& int8MapKernels(Isa isa) {
    MNNC_SELECT(isa, int8MapTable)
}
}  // namespace mnnc
#endif
