// The int8 kernels share this: products of bytes or of pairs, and rounding. It is included once per instruction set,
// hence the toggling guard.
#if defined(MNNC_INT8_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNNC_INT8_MATH_INL_H
#undef MNNC_INT8_MATH_INL_H
#else
#define MNNC_INT8_MATH_INL_H
#endif

#include "backends/cpu/kernels/gemm/arm_products-inl.h"
#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using DI = hn::ScalableTag<int32_t>;
using DB = hn::Rebind<int8_t, DI>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;
constexpr int P = static_cast<int>(hn::MaxLanes(DF()));

using Product = Int8Product;
template <Product K>
constexpr int kUnit = K == Product::Pairs || K == Product::WordSums ? 2 : 1;

// Adds to acc the products of the four bytes (Vnni: x is unsigned; Dot) or two 16-bit numbers (Pairs, WordSums) in each
// lane. Highway has no target with VNNI; the instruction is written as assembly, and used where the CPU has it.
template <Product K>
HWY_INLINE void dot(VI& acc, VI x, VI w) {
#if HWY_TARGET == HWY_AVX3
    if constexpr (K == Product::Vnni)
        asm("vpdpbusd %2, %1, %0" : "+v"(acc.raw) : "v"(x.raw), "v"(w.raw));
    else if constexpr (K == Product::WordSums)
        asm("vpdpwssd %2, %1, %0" : "+v"(acc.raw) : "v"(x.raw), "v"(w.raw));
    else
        acc.raw = _mm512_add_epi32(acc.raw, _mm512_madd_epi16(x.raw, w.raw));
#elif HWY_TARGET == HWY_AVX2
    if constexpr (K == Product::Vnni)
        asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc.raw) : "x"(x.raw), "x"(w.raw));
    else if constexpr (K == Product::WordSums)
        asm("%{vex%} vpdpwssd %2, %1, %0" : "+x"(acc.raw) : "x"(x.raw), "x"(w.raw));
    else
        acc.raw = _mm256_add_epi32(acc.raw, _mm256_madd_epi16(x.raw, w.raw));
#elif HWY_TARGET == HWY_SSE4
    acc.raw = _mm_add_epi32(acc.raw, _mm_madd_epi16(x.raw, w.raw));
#elif MNNC_NEON64
    if constexpr (K == Product::Dot) {
        dotFours(acc.raw, vreinterpretq_s8_s32(w.raw), vreinterpretq_s8_s32(x.raw));
    } else {
        const int16x8_t a = vreinterpretq_s16_s32(x.raw), b = vreinterpretq_s16_s32(w.raw);
        const int32x4_t low = vmull_s16(vget_low_s16(a), vget_low_s16(b));
        acc.raw = vaddq_s32(acc.raw, vpaddq_s32(low, vmull_high_s16(a, b)));
    }
#elif HWY_TARGET == HWY_EMU128
    // One loop over the lanes replaces one loop for each operation: it compiles faster, and runs faster. Sums wrap.
    for (int i = 0; i < P; ++i)
        acc.raw[i] =
            static_cast<int32_t>(static_cast<uint32_t>(acc.raw[i]) +
                                 static_cast<uint32_t>(static_cast<int16_t>(x.raw[i]) * static_cast<int16_t>(w.raw[i]) +
                                                       (x.raw[i] >> 16) * (w.raw[i] >> 16)));
#else
    const VI low = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(x)), hn::ShiftRight<16>(hn::ShiftLeft<16>(w)));
    const VI high = hn::Mul(hn::ShiftRight<16>(x), hn::ShiftRight<16>(w));
    acc = hn::Add(acc, hn::Add(low, high));
#endif
}

// Rounds values that fit an int32 towards zero.
HWY_INLINE VI truncate(VF v) {
#if HWY_TARGET == HWY_AVX3
    return VI{_mm512_cvttps_epi32(v.raw)};
#elif HWY_TARGET == HWY_AVX2
    return VI{_mm256_cvttps_epi32(v.raw)};
#elif HWY_TARGET == HWY_SSE4
    return VI{_mm_cvttps_epi32(v.raw)};
#else
    return hn::ConvertTo(DI(), v);
#endif
}

// Rounds halves away from zero.
HWY_INLINE VI round(VF v) {
    return truncate(hn::Add(v, hn::CopySignToAbs(hn::Set(DF(), 0.5f), v)));
}

// NaN becomes lo.
HWY_INLINE VF clamp(VF v, VF lo, VF hi) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
    return hn::Min(hn::Max(v, lo), hi);
#elif MNNC_NEON64
    return VF(vminq_f32(vmaxnmq_f32(v.raw, lo.raw), hi.raw));
#else
    return hn::Min(hn::IfThenElse(hn::Gt(v, lo), v, lo), hi);
#endif
}

HWY_INLINE void store(VF v, VF lo, VF hi, int8_t* to) {
    hn::StoreU(hn::DemoteTo(DB(), round(clamp(v, lo, hi))), DB(), to);
}

// Where results are stored in fours, Rounded and Octets are the types for vectors of rounded numbers and of bytes.
#undef MNNC_STORES_FOURS
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || MNNC_NEON64
#define MNNC_STORES_FOURS 1
#else
#define MNNC_STORES_FOURS 0
#endif

#if MNNC_NEON64
using Rounded = int32x4_t;
using Octets = int8x16_t;

HWY_INLINE Octets octets(float value) {
    return vdupq_n_s8(static_cast<int8_t>(value));
}

// Rounds; values below -1e9 and NaN become -1e9, and those above an int32 become INT32_MAX.
HWY_INLINE Rounded rounded(VF v) {
    return round(VF(vmaxnmq_f32(v.raw, vdupq_n_f32(-1e9f)))).raw;
}

// Does the same with values below 2^30 that are not NaN. Unsigned: see below.
template <bool Unsigned>
HWY_INLINE Rounded boundedRound(VF v) {
    if constexpr (Unsigned) return vcvtq_s32_f32(vaddq_f32(v.raw, vdupq_n_f32(0.5f)));
    return round(v).raw;
}

// Stores the first N of four vectors, one after the other, clipped to bytes.
template <int N = 4>
HWY_INLINE void storeFour(Rounded a, Rounded b, Rounded c, Rounded d, Octets lo, Octets hi, int8_t* to) {
    const int16x8_t ab = vqmovn_high_s32(vqmovn_s32(a), b), cd = vqmovn_high_s32(vqmovn_s32(c), d);
    const int8x16_t bytes = vminq_s8(vmaxq_s8(vqmovn_high_s16(vqmovn_s16(ab), cd), lo), hi);
    if constexpr (N == 4) return vst1q_s8(to, bytes);
    const int32x4_t words = vreinterpretq_s32_s8(bytes);
    if constexpr (N >= 2) vst1_s8(to, vget_low_s8(bytes));
    if constexpr (N == 3) vst1q_lane_s32(reinterpret_cast<int32_t*>(to + 8), words, 2);
    if constexpr (N == 1) vst1q_lane_s32(reinterpret_cast<int32_t*>(to), words, 0);
}
#endif

#if HWY_TARGET == HWY_AVX2
using Rounded = __m256i;
using Octets = __m256i;

HWY_INLINE Octets octets(float value) {
    return _mm256_set1_epi8(static_cast<char>(value));
}

// Rounds values that fit an int32; smaller values and NaN become INT32_MIN.
HWY_INLINE __m256i rounded(VF v) {
    // the order matters: Min returns its second operand when one is NaN
    return round(hn::Min(hn::Set(DF(), 1e9f), v)).raw;
}

// Does the same with values below 2^30 that are not NaN. Unsigned: see below.
template <bool Unsigned>
HWY_INLINE __m256i boundedRound(VF v) {
    if constexpr (Unsigned) return _mm256_cvttps_epi32(_mm256_add_ps(v.raw, _mm256_set1_ps(0.5f)));
    return round(v).raw;
}

// Stores the first N of four vectors, one after the other, clipped to bytes.
template <int N = 4>
HWY_INLINE void storeFour(__m256i a, __m256i b, __m256i c, __m256i d, __m256i lo, __m256i hi, int8_t* to) {
    const __m256i packed = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_min_epi8(_mm256_max_epi8(packed, lo), hi), order);
    const __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
    if constexpr (N == 4) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bytes);
    if constexpr (N == 1) return _mm_storel_epi64(reinterpret_cast<__m128i*>(to), low);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), low);
    if constexpr (N == 3) _mm_storel_epi64(reinterpret_cast<__m128i*>(to + 16), high);
}
#endif

#if HWY_TARGET == HWY_AVX3
using Rounded = __m512i;
using Octets = __m512i;

HWY_INLINE Octets octets(float value) {
    return _mm512_set1_epi8(static_cast<char>(value));
}

// Rounds values that fit an int32; smaller values and NaN become INT32_MIN.
HWY_INLINE __m512i rounded(VF v) {
    // the order matters: Min returns its second operand when one is NaN
    return round(hn::Min(hn::Set(DF(), 1e9f), v)).raw;
}

// Does the same with values below 2^30. Unsigned: the results will be clipped to non-negative numbers, so numbers below
// zero need not be rounded.
template <bool Unsigned>
HWY_INLINE __m512i boundedRound(VF v) {
    if constexpr (Unsigned) return _mm512_cvttps_epi32(_mm512_add_ps(v.raw, _mm512_set1_ps(0.5f)));
    return round(v).raw;
}

// Clips to bytes. Each lane of the result holds four numbers, those of a, b, c, d.
HWY_INLINE __m512i narrow(__m512i a, __m512i b, __m512i c, __m512i d, __m512i lo, __m512i hi) {
    const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
    return _mm512_min_epi8(_mm512_max_epi8(bytes, lo), hi);
}

// Stores the first `count` of four vectors of 16 bytes. Stores with a mask take 20 cycles on some CPUs (AMD Zen 5).
HWY_INLINE void storeFirst(__m512i bytes, int count, int8_t* to) {
    if (count >= 4) return _mm512_storeu_si512(to, bytes);
    if (count & 2) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_castsi512_si256(bytes));
        to += 32;
        bytes = _mm512_shuffle_i64x2(bytes, bytes, 0xee);
    }
    if (count & 1) _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_castsi512_si128(bytes));
}

// Stores the first N of four vectors, one after the other, clipped to bytes.
template <int N = 4>
HWY_INLINE void storeFour(__m512i a, __m512i b, __m512i c, __m512i d, __m512i lo, __m512i hi, int8_t* to) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    storeFirst(_mm512_permutexvar_epi32(order, narrow(a, b, c, d, lo, hi)), N, to);
}
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
