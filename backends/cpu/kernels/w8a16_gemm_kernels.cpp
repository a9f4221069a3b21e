// Matrix products of 16-bit activations with int8 weights (AVX512-VNNI).
#include "backends/cpu/kernels/w8a16_kernels.h"

#include <cstring>

#include "backends/cpu/cpu_features.h"
#include "backends/cpu/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/w8a16_gemm_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/panel_tile-inl.h"
// clang-format on

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

constexpr int kPairs = P / 2;
// Blocks of channels whose products fit a sum of 32 bits: 31 x 16 x 32768 x 128 < 2^31.
constexpr int kExactBlocks = 31;

// acc += the products of both 16-bit numbers in each lane. Highway has no target with VNNI.
HWY_INLINE void dot(__m512i& acc, __m512i x, __m512i w) {
    asm("vpdpwssd %2, %1, %0" : "+v"(acc) : "v"(x), "v"(w));
}

HWY_INLINE __m512i broadcastPair(const int16_t* p) {
    int32_t both;
    std::memcpy(&both, p, sizeof both);
    return _mm512_set1_epi32(both);
}

// L pairs of channels.
template <int R, int NB, int L>
HWY_INLINE void accumulate(__m512i (&acc)[R][NB], const int16_t* const (&q)[(R + 2) / 3], ptrdiff_t s,
                           const int8_t* w, const int8_t* ahead) {
    HWY_UNROLL(4)
    for (int l = 0; l < L; ++l) {
        if (l % 2 == 0) __builtin_prefetch(ahead + l * 2 * P, 0, 2);
        __m512i b[NB];
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n)
            b[n] = _mm512_cvtepi8_epi16(
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + (l * NB + n) * 2 * P)));
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            const __m512i x = broadcastPair(q[r / 3] + (r % 3) * s + 2 * l);
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) dot(acc[r][n], x, b[n]);
        }
    }
}

// The exact sums so far become part of the float ones.
template <int R, int NB>
HWY_INLINE void flush(__m512i (&acc)[R][NB], float* sums) {
    HWY_UNROLL(32)
    for (int r = 0; r < R; ++r) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) {
            float* to = sums + (r * NB + n) * P;
            _mm512_store_ps(to, _mm512_add_ps(_mm512_load_ps(to), _mm512_cvtepi32_ps(acc[r][n])));
            acc[r][n] = _mm512_setzero_si512();
        }
    }
}

template <int R, int NB>
HWY_NOINLINE void gemmTileS16S8(const W8A16PanelArgs& t, const int16_t* a, float* dst, const float* residual,
                                const int8_t* ahead) {
    constexpr int G = (R + 2) / 3;
    const D d;
    HWY_ALIGN float sums[R * NB * P];
    const bool many = int64_t{t.taps} * (t.fullBlocks + 1) >= kExactBlocks;
    if (many) std::memset(sums, 0, sizeof sums);
    __m512i acc[R][NB];
    HWY_UNROLL(32)
    for (int r = 0; r < R; ++r) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) acc[r][n] = _mm512_setzero_si512();
    }
    const ptrdiff_t s = t.pixelStride;
    const int8_t* w = t.w;
    int left = kExactBlocks;
    for (int tap = 0; tap < t.taps; ++tap) {
        const int16_t* p = a + t.tapOffset[tap];
        for (int block = 0; block < t.fullBlocks; ++block, p += t.blockStride) {
            const int16_t* q[G];
            rowPointers<R>(q, p, s);
            for (int l = 0; l < kPairs; l += 4) {
                accumulate<R, NB, 4>(acc, q, s, w, ahead);
                w += 4 * NB * 2 * P;
                ahead += 4 * 2 * P;
                HWY_UNROLL(16)
                for (int g = 0; g < G; ++g) q[g] += 8;
            }
            if (HWY_UNLIKELY(--left == 0)) {
                flush(acc, sums);
                left = kExactBlocks;
            }
        }
        if (t.tail) {
            const int16_t* q[G];
            rowPointers<R>(q, p, s);
            for (int l = 0; l < t.tail; l += 2) {
                accumulate<R, NB, 1>(acc, q, s, w, ahead);
                w += NB * 2 * P;
                ahead += 2 * P;
                HWY_UNROLL(16)
                for (int g = 0; g < G; ++g) q[g] += 2;
            }
            if (HWY_UNLIKELY(--left == 0)) {
                flush(acc, sums);
                left = kExactBlocks;
            }
        }
    }
    const ptrdiff_t pixel = (a - t.a) / s;
    const float* scales = t.pixelScale + pixel * t.pixelScaleStep;
    const float* offsets = t.pixelOffset + pixel * t.pixelScaleStep;
    V value[R][NB];
    HWY_UNROLL(32)
    for (int r = 0; r < R; ++r) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) value[r][n] = V{_mm512_cvtepi32_ps(acc[r][n])};
    }
    if (many) {
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n)
                value[r][n] = hn::Add(value[r][n], hn::Load(d, sums + (r * NB + n) * P));
        }
    }
    float all = 0.0f;
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) {
        const V scale = hn::LoadU(d, t.scale + n * P), bias = hn::LoadU(d, t.bias + n * P),
                codeSum = hn::LoadU(d, t.codeSum + n * P);
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            const float x = scales[r * t.pixelScaleStep];
            if (n == 0) all += x;
            const V offset = hn::Set(d, offsets[r * t.pixelScaleStep]);
            value[r][n] =
                hn::MulAdd(hn::Mul(value[r][n], hn::Set(d, x)), scale, hn::MulAdd(offset, codeSum, bias));
        }
    }
    if (t.min) {
        const float* pixelSum = t.pixelSum + pixel;
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) {
            const V min = hn::LoadU(d, t.min + n * P);
            HWY_UNROLL(32)
            for (int r = 0; r < R; ++r) value[r][n] = hn::MulAdd(hn::Set(d, pixelSum[r]), min, value[r][n]);
        }
    }
    finishTile(t, value, dst, residual);
    if (HWY_UNLIKELY(all != all)) {  // the clamp has made numbers of them
        for (int r = 0; r < R; ++r) {
            const float x = scales[r * t.pixelScaleStep];
            if (x == x) continue;
            for (int n = 0; n < NB; ++n)
                hn::StoreU(hn::Set(d, x), d, dst + r * t.dstPixelStride + n * t.dstBlockStride);
        }
    }
}

using TileFn = void (*)(const W8A16PanelArgs&, const int16_t*, float*, const float*, const int8_t*);

template <int NB, int... R>
constexpr void fillTiles(TileFn* out, std::integer_sequence<int, R...>) {
    ((out[R] = &gemmTileS16S8<R + 1, NB>), ...);
}

struct Tiles {
    TileFn fn[4][24] = {};
    constexpr Tiles() {
        fillTiles<1>(fn[0], std::make_integer_sequence<int, kMaxRows[1]>());
        fillTiles<2>(fn[1], std::make_integer_sequence<int, kMaxRows[2]>());
        fillTiles<3>(fn[2], std::make_integer_sequence<int, kMaxRows[3]>());
        fillTiles<4>(fn[3], std::make_integer_sequence<int, kMaxRows[4]>());
    }
};
constexpr Tiles kTiles;

void gemmPanelS16S8(const W8A16PanelArgs& t) {
    runTiles(t, kTiles.fn, ptrdiff_t(t.taps) * (t.fullBlocks * kPairs + (t.tail + 1) / 2), 2 * P);
}

}  // namespace

W8A16PanelFn w8a16Panel() {
    return &gemmPanelS16S8;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace mnnc {
W8A16PanelFn w8a16GemmKernel(Isa isa) {
#if HWY_TARGETS & HWY_AVX3
    if (isa == Isa::Avx512 && detectCpuFeatures().avx512Vnni) return N_AVX3::w8a16Panel();
#endif
    static_cast<void>(isa);
    return nullptr;
}
}  // namespace mnnc
#endif
