// Matrix products of bf16 pairs (AVX512-BF16): the tiles and the epilogue of panel_kernels.cpp, two channels a step.
#include "backends/cpu/kernels/conv_kernels.h"

#include <cstring>

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gemm/bf16_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/gemm/panel_tile-inl.h"
// clang-format on

// Highway has no target with these instructions, so they are enabled for the 512-bit target.
#if HWY_TARGET == HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

constexpr int kPairs = P / 2;

HWY_INLINE __m512bh pairs(const void* p) {
    return (__m512bh)_mm512_loadu_si512(p);
}
HWY_INLINE __m512bh broadcastPair(const uint16_t* p) {
    int32_t both;
    std::memcpy(&both, p, sizeof both);
    return (__m512bh)_mm512_set1_epi32(both);
}

// Adds L pairs of channels.
template <int R, int NB, int L>
HWY_INLINE void accumulate(V (&acc)[R][NB], const uint16_t* const (&q)[(R + 2) / 3], ptrdiff_t s, const uint16_t* w,
                           Ahead& ahead) {
    HWY_UNROLL(4)
    for (int l = 0; l < L; ++l) {
        ahead.fetch();
        __m512bh b[NB];
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) b[n] = pairs(w + (l * NB + n) * 2 * P);
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            const __m512bh x = broadcastPair(q[r / 3] + (r % 3) * s + 2 * l);
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) acc[r][n].raw = _mm512_dpbf16_ps(acc[r][n].raw, x, b[n]);
        }
    }
}

template <int R, int NB>
HWY_NOINLINE void gemmTileBf16(const Bf16PanelArgs& t, const uint16_t* a, float* dst, const float* residual,
                               Ahead ahead) {
    constexpr int G = (R + 2) / 3;
    V acc[R][NB];
    startTile(t.bias, acc);
    const ptrdiff_t s = t.pixelStride;
    const uint16_t* w = t.w;
    for (int tap = 0; tap < t.taps; ++tap) {
        const uint16_t* p = a + t.tapOffset[tap];
        for (int block = 0; block < t.fullBlocks; ++block, p += t.blockStride) {
            const uint16_t* q[G];
            rowPointers<R>(q, p, s);
            for (int l = 0; l < kPairs; l += 4) {
                accumulate<R, NB, 4>(acc, q, s, w, ahead);
                w += 4 * NB * 2 * P;
                HWY_UNROLL(16)
                for (int g = 0; g < G; ++g) q[g] += 8;
            }
        }
        if (t.tail) {
            const uint16_t* q[G];
            rowPointers<R>(q, p, s);
            for (int l = 0; l < t.tail; l += 2) {
                accumulate<R, NB, 1>(acc, q, s, w, ahead);
                w += NB * 2 * P;
                HWY_UNROLL(16)
                for (int g = 0; g < G; ++g) q[g] += 2;
            }
        }
    }
    finishTile(t, acc, dst, residual);
}

constexpr auto kTiles = makeTiles<kMaxRows>([]<int R, int NB>() { return &gemmTileBf16<R, NB>; });

void gemmPanelBf16(const Bf16PanelArgs& t) {
    const ptrdiff_t pairs = ptrdiff_t(t.taps) * (t.fullBlocks * kPairs + (t.tail + 1) / 2);
    runTiles(t, kTiles, kMaxRows, pairs, 2 * P, pairs);
}

HWY_INLINE void convert16(const float* src, __mmask16 lanes, uint16_t* dst) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst),
                        (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(lanes, src)));
}

void roundBf16(const float* src, size_t n, uint16_t* dst) {
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m512bh both = _mm512_cvtne2ps_pbh(_mm512_loadu_ps(src + i + 16), _mm512_loadu_ps(src + i));
        _mm512_storeu_si512(dst + i, (__m512i)both);
    }
    for (; i < n; i += 16) {
        const __mmask16 lanes = n - i >= 16 ? 0xffff : static_cast<__mmask16>((1u << (n - i)) - 1);
        const __m512 x = _mm512_maskz_loadu_ps(lanes, src + i);
        _mm256_mask_storeu_epi16(dst + i, lanes, (__m256i)_mm512_cvtneps_pbh(x));
    }
}

void roundBlockBf16(const float* src, ptrdiff_t pixelStride, int pixels, int lanes, uint16_t* dst) {
    if (lanes == P && pixelStride == P) return roundBf16(src, size_t(pixels) * P, dst);
    const auto mask = static_cast<__mmask16>((1u << lanes) - 1);
    for (int i = 0; i < pixels; ++i, src += pixelStride, dst += P) convert16(src, mask, dst);
}

// Returns 16 floats as bf16 in the lower halves of 32 bits.
HWY_INLINE __m512i widened(const float* row) {
    return _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(row)));
}

void interleavePairsBf16(const float* even, const float* odd, int width, uint16_t* dst) {
    for (int i = 0; i < width; i += P, dst += 2 * P) {
        const __m512i upper = _mm512_slli_epi32(widened(odd + i), 16);
        _mm512_storeu_si512(dst, _mm512_or_si512(widened(even + i), upper));
    }
}

constexpr Bf16Kernels kBf16Kernels = {&gemmPanelBf16, &roundBf16, &roundBlockBf16, &interleavePairsBf16};

}  // namespace

const Bf16Kernels* bf16KernelsTable() {
    return &kBf16Kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_POP_ATTRIBUTES
#elif MNNC_NEON64
namespace mnnc {
namespace HWY_NAMESPACE {
const Bf16Kernels* bf16KernelsTable();  // bf16_arm_kernels.cpp
const Bf16Kernels* fp16KernelsTable();  // fp16_arm_kernels.cpp
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
#else
namespace mnnc {
namespace HWY_NAMESPACE {
const Bf16Kernels* bf16KernelsTable() {
    return nullptr;
}
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
#endif

#if HWY_ONCE
namespace mnnc {
const Bf16Kernels* bf16Kernels(Isa isa) {
    MNNC_SELECT(isa, bf16KernelsTable)
}
const Bf16Kernels* fp16Kernels(Isa isa) {
#if HWY_ARCH_ARM_A64 && (HWY_TARGETS & HWY_NEON)
    if (isa == Isa::Neon) return N_NEON::fp16KernelsTable();
#endif
    static_cast<void>(isa);
    return nullptr;
}
}  // namespace mnnc
#endif
