// Rounding of activations to 16 bits with a scale (AVX-512).
#include "backends/cpu/kernels/w8a16/w8a16_kernels.h"

#include <cstring>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/w8a16/w8a16_matrix.h"
#include "backends/cpu/processor/cpu_features.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/w8a16/w8a16_rounding_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

constexpr int P = 16;

HWY_INLINE __mmask16 maskOf(int lanes) {
    return static_cast<__mmask16>((1u << lanes) - 1);
}

HWY_INLINE __m512i magnitude(__m512 x) {
    return _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
}

HWY_INLINE void storeRounded(__m512 x, __m512 inverse, __m512i zero, int16_t* to) {
    const __m512i q = _mm512_add_epi32(_mm512_cvtps_epi32(_mm512_mul_ps(x, inverse)), zero);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtsepi32_epi16(q));
}

struct Scales {
    __m256 scale, offset, inverse;
    __m256i zero;
};
HWY_INLINE Scales scalesOf(__m256i largest, __m256i signs) {
    const __m256 max = _mm256_castsi256_ps(largest);
    const __mmask8 wild = _mm256_cmpgt_epu32_mask(largest, _mm256_set1_epi32(0x7f7fffff));
    const __mmask8 some = _mm256_cmp_ps_mask(max, _mm256_set1_ps(1e-30f), _CMP_GE_OQ);
    const __mmask8 isSigned = _mm256_movepi32_mask(signs);
    const __m256 steps = _mm256_mask_blend_ps(isSigned, _mm256_set1_ps(65535.0f), _mm256_set1_ps(32767.0f));
    const __m256i zero = _mm256_maskz_set1_epi32(static_cast<__mmask8>(~isSigned), -32768);
    const __m256 scale = _mm256_mask_sub_ps(_mm256_maskz_div_ps(some, max, steps), wild, max,
                                            max);  // Inf - Inf is not a number
    return {scale, _mm256_mul_ps(scale, _mm256_sub_ps(_mm256_setzero_ps(), _mm256_cvtepi32_ps(zero))),
            _mm256_maskz_div_ps(some, steps, max), zero};
}

ActivationScale scaleOfRange(const ActivationRange& range) {
    const Scales s =
        scalesOf(_mm256_set1_epi32(static_cast<int>(range.largest)), _mm256_set1_epi32(static_cast<int>(range.signs)));
    return {_mm256_cvtss_f32(s.scale), _mm256_cvtss_f32(s.offset), _mm256_cvtss_f32(s.inverse),
            _mm256_cvtsi256_si32(s.zero)};
}

ActivationRange rangeF32(const float* src, size_t pixels, int lanes) {
    const __mmask16 mask = maskOf(lanes);
    __m512i maxima[4], signs = _mm512_setzero_si512();
    for (__m512i& m : maxima) m = _mm512_setzero_si512();
    const auto take = [&](size_t i, __m512i& m) HWY_ATTR {
        const __m512 x = _mm512_maskz_loadu_ps(mask, src + i * P);
        m = _mm512_max_epu32(m, magnitude(x));
        signs = _mm512_or_si512(signs, _mm512_castps_si512(x));
    };
    size_t i = 0;
    for (; i + 4 <= pixels; i += 4) {
        HWY_UNROLL(4)
        for (int k = 0; k < 4; ++k) take(i + k, maxima[k]);
    }
    for (; i < pixels; ++i) take(i, maxima[0]);
    const __m512i all =
        _mm512_max_epu32(_mm512_max_epu32(maxima[0], maxima[1]), _mm512_max_epu32(maxima[2], maxima[3]));
    return {_mm512_reduce_max_epu32(all), static_cast<uint32_t>(_mm512_reduce_or_epi32(signs))};
}

void roundS16(const float* src, int pixels, int lanes, const ActivationScale& scale, int16_t* dst, float* sum) {
    const __mmask16 mask = maskOf(lanes);
    const __m512 inverse = _mm512_set1_ps(scale.inverse);
    const __m512i zero = _mm512_set1_epi32(scale.zero);
    for (int i = 0; i < pixels; ++i) {
        const __m512 x = _mm512_maskz_loadu_ps(mask, src + ptrdiff_t(i) * P);
        storeRounded(x, inverse, zero, dst + ptrdiff_t(i) * P);
        if (sum) sum[i] += _mm512_reduce_add_ps(x);
    }
}

template <int N>
HWY_INLINE void roundSome(const RoundPixelsArgs& t, int at) {
    const float* src = t.src + at * t.pixelStride;
    int16_t* dst = t.dst + ptrdiff_t(at) * P;
    const int blocks = (t.channels + P - 1) / P;
    const __mmask16 last = maskOf(t.channels - (blocks - 1) * P);
    __m512i maxima[N], signs[N];
    __m512 sums[N];
    HWY_UNROLL(8)
    for (int i = 0; i < N; ++i) {
        maxima[i] = signs[i] = _mm512_setzero_si512();
        sums[i] = _mm512_setzero_ps();
    }
    for (int b = 0; b < blocks; ++b) {
        const __mmask16 mask = b + 1 < blocks ? static_cast<__mmask16>(0xffff) : last;
        HWY_UNROLL(8)
        for (int i = 0; i < N; ++i) {
            const __m512 x = _mm512_maskz_loadu_ps(mask, src + b * t.blockStride + i * t.pixelStride);
            maxima[i] = _mm512_max_epu32(maxima[i], magnitude(x));
            signs[i] = _mm512_or_si512(signs[i], _mm512_castps_si512(x));
            sums[i] = _mm512_add_ps(sums[i], x);
        }
    }
    alignas(32) uint32_t largest[8] = {}, allSigns[8] = {};
    alignas(32) float scales[8], offsets[8], inverses[8];
    alignas(32) int32_t zeros[8];
    HWY_UNROLL(8)
    for (int i = 0; i < N; ++i) {
        largest[i] = _mm512_reduce_max_epu32(maxima[i]);
        allSigns[i] = _mm512_movepi32_mask(signs[i]) ? 0x80000000u : 0;
        if (t.sum) t.sum[at + i] = _mm512_reduce_add_ps(sums[i]);
    }
    const Scales s = scalesOf(_mm256_load_si256(reinterpret_cast<const __m256i*>(largest)),
                              _mm256_load_si256(reinterpret_cast<const __m256i*>(allSigns)));
    _mm256_store_ps(scales, s.scale);
    _mm256_store_ps(offsets, s.offset);
    _mm256_store_ps(inverses, s.inverse);
    _mm256_store_si256(reinterpret_cast<__m256i*>(zeros), s.zero);
    std::memcpy(t.scale + at, scales, N * sizeof(float));
    std::memcpy(t.offset + at, offsets, N * sizeof(float));
    __m512 inverse[N];
    __m512i zero[N];
    HWY_UNROLL(8)
    for (int i = 0; i < N; ++i) {
        inverse[i] = _mm512_set1_ps(inverses[i]);
        zero[i] = _mm512_set1_epi32(zeros[i]);
    }
    for (int b = 0; b < blocks; ++b) {
        const __mmask16 mask = b + 1 < blocks ? static_cast<__mmask16>(0xffff) : last;
        HWY_UNROLL(8)
        for (int i = 0; i < N; ++i) {
            const __m512 x = _mm512_maskz_loadu_ps(mask, src + b * t.blockStride + i * t.pixelStride);
            storeRounded(x, inverse[i], zero[i], dst + b * t.dstBlockStride + i * P);
        }
    }
}

void roundPixelsS16(const RoundPixelsArgs& t) {
    int at = 0;
    for (; at + 8 <= t.pixels; at += 8) roundSome<8>(t, at);
    for (; at < t.pixels; ++at) roundSome<1>(t, at);
}

}  // namespace

const W8A16Kernels& w8a16Table(const W8A16Panels& panels8, const W8A16Panels& panels4) {
    static const W8A16Kernels table = {2,         panels8,       panels4,   &roundPixelsS16,
                                       &rangeF32, &scaleOfRange, &roundS16, &w8a16MatrixKernels};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace mnnc {
const W8A16Kernels* w8a16Kernels(Isa isa) {
#if HWY_TARGETS & HWY_AVX3
    if (isa == Isa::Avx512 && w8a16Panels(isa, 8))
        return &N_AVX3::w8a16Table(*w8a16Panels(isa, 8), *w8a16Panels(isa, 4));
#endif
#if HWY_TARGETS & HWY_AVX2
    if (isa == Isa::Avx2) return &w8a16Avx2Kernels();
#endif
#if HWY_ARCH_ARM_A64 && (HWY_TARGETS & HWY_NEON)
    if (isa == Isa::Neon && detectCpuFeatures().dotProd) return &w8a16ArmKernels();
#endif
    static_cast<void>(isa);
    return nullptr;
}
}  // namespace mnnc
#endif
