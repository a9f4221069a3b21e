// Element-wise operators of int8, maxima of rows, and conversions between int8 and float.
#include "backends/cpu/kernels/int8_kernels.h"

#include <cstring>

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/int8_element_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/int8_math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE VF loadFloats(const int8_t* from) {
    return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::LoadU(DB(), from)));
}

template <Product K>
void widenS8(const int8_t* src, char* dst, size_t count) {
    if constexpr (K == Product::Vnni) {
        const hn::ScalableTag<uint8_t> d;
        const auto half = hn::Set(d, uint8_t{128});
        const auto* from = reinterpret_cast<const uint8_t*>(src);
        auto* to = reinterpret_cast<uint8_t*>(dst);
        size_t i = 0;
        for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
            hn::StoreU(hn::Xor(hn::LoadU(d, from + i), half), d, to + i);
        for (; i < count; ++i) to[i] = static_cast<uint8_t>(from[i] ^ 128);
    } else {
        auto* to = reinterpret_cast<int16_t*>(dst);
        const hn::ScalableTag<int16_t> d;
        const hn::Rebind<int8_t, decltype(d)> db;
        const auto half = hn::Set(d, int16_t{128});
        size_t i = 0;
        for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
            hn::StoreU(hn::Add(hn::PromoteTo(d, hn::LoadU(db, src + i)), half), d, to + i);
        for (; i < count; ++i) to[i] = static_cast<int16_t>(src[i] + 128);
    }
}

void quantizeF32S8(const float* src, int8_t* dst, size_t blocks, const QuantizeArgs& t) {
    const DF d;
    const VF scale = hn::LoadU(d, t.scale), zero = hn::LoadU(d, t.zero), lo = hn::Set(d, t.lo),
             hi = hn::Set(d, t.hi);
    for (size_t i = 0; i < blocks; ++i)
        store(hn::Add(hn::Mul(hn::LoadU(d, src + i * P), scale), zero), lo, hi, dst + i * P);
}

void dequantizeS8F32(const int8_t* src, float* dst, size_t blocks, const float* scale, const float* zero) {
    const DF d;
    const VF s = hn::LoadU(d, scale), z = hn::LoadU(d, zero);
    for (size_t i = 0; i < blocks; ++i)
        hn::StoreU(hn::Mul(hn::Sub(loadFloats(src + i * P), z), s), d, dst + i * P);
}

template <Int8Binary Op>
void binaryOfS8(const int8_t* a, const int8_t* b, int8_t* dst, size_t count, const Int8BinaryArgs& t) {
    const DF d;
    const VF za = hn::Set(d, t.zeroA), zb = hn::Set(d, t.zeroB), sa = hn::Set(d, t.scaleA),
             sb = hn::Set(d, t.scaleB);
    const VF inverse = hn::Set(d, t.inverse), lo = hn::Set(d, t.lo - t.zero), hi = hn::Set(d, t.hi - t.zero);
    const VI zero = hn::Set(DI(), static_cast<int32_t>(t.zero));
    const auto value = [&](const int8_t* pa, const int8_t* pb) HWY_ATTR {
        const VF x = hn::Mul(hn::Sub(loadFloats(pa), za), sa), y = hn::Mul(hn::Sub(loadFloats(pb), zb), sb);
        if constexpr (Op == Int8Binary::Add) return hn::Mul(hn::Add(x, y), inverse);
        if constexpr (Op == Int8Binary::Sub) return hn::Mul(hn::Sub(x, y), inverse);
        return hn::Mul(hn::Mul(x, y), inverse);
    };
    const auto one = [&](const int8_t* pa, const int8_t* pb, int8_t* to) HWY_ATTR {
        hn::StoreU(hn::DemoteTo(DB(), hn::Add(round(clamp(value(pa, pb), lo, hi)), zero)), DB(), to);
    };
    size_t i = 0;
#if HWY_TARGET == HWY_AVX3
    const __m512i lo8 = _mm512_set1_epi8(static_cast<char>(t.lo)),
                  hi8 = _mm512_set1_epi8(static_cast<char>(t.hi));
    const auto shifted = [&](size_t at)
                             HWY_ATTR { return _mm512_add_epi32(rounded(value(a + at, b + at)), zero.raw); };
    for (; i + 4 * P <= count; i += 4 * P)
        storeFour(shifted(i), shifted(i + P), shifted(i + 2 * P), shifted(i + 3 * P), lo8, hi8, dst + i);
#endif
    for (; i + P <= count; i += P) one(a + i, b + i, dst + i);
    if (i < count) {
        int8_t rest[3][P] = {};
        std::memcpy(rest[0], a + i, count - i);
        std::memcpy(rest[1], b + i, count - i);
        one(rest[0], rest[1], rest[2]);
        std::memcpy(dst + i, rest[2], count - i);
    }
}

void binaryS8(const int8_t* a, const int8_t* b, int8_t* dst, size_t count, const Int8BinaryArgs& t) {
    switch (t.op) {
        case Int8Binary::Add:
            return binaryOfS8<Int8Binary::Add>(a, b, dst, count, t);
        case Int8Binary::Sub:
            return binaryOfS8<Int8Binary::Sub>(a, b, dst, count, t);
        case Int8Binary::Mul:
            return binaryOfS8<Int8Binary::Mul>(a, b, dst, count, t);
    }
}

void maximumS8(const int8_t* const* rows, int rowCount, const PoolSpan* spans, int outputs, int8_t* dst) {
    const DB d;
    for (int x = 0; x < outputs; ++x) {
        auto best = hn::Set(d, int8_t{-128});
        for (int y = 0; y < rowCount; ++y) {
            const int8_t* row = rows[y];
            for (int i = spans[x].first; i < spans[x].last; ++i)
                best = hn::Max(best, hn::LoadU(d, row + ptrdiff_t(i) * P));
        }
        hn::StoreU(best, d, dst + ptrdiff_t(x) * P);
    }
}

}  // namespace

const Int8ElementKernels& int8ElementTable() {
    static constexpr Int8ElementKernels table = {&quantizeF32S8,
                                                 &dequantizeS8F32,
                                                 &binaryS8,
                                                 &maximumS8,
                                                 {&widenS8<Product::Vnni>, &widenS8<Product::Pairs>}};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const Int8ElementKernels& int8ElementKernels(Isa isa) {
    MNNC_SELECT(isa, int8ElementTable)
}
}  // namespace mnnc
#endif
