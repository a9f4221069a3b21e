// Matrix products of bf16 on 64-bit Arm (FEAT_BF16): matrices of two pixels and two output channels, four channels a
// step. Weights lie in pairs of channels as for every instruction set, and are joined to fours when they are read.
#include "backends/cpu/kernels/conv_kernels.h"

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gemm/bf16_arm_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/gemm/arm_halves-inl.h"
#include "backends/cpu/kernels/gemm/panel_tile-inl.h"
// clang-format on

#if MNNC_NEON64
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// 32 registers hold a tile of 24 vectors of sums and the inputs of its pixels.
constexpr int kRows[5] = {0, 12, 12, 8, 0};

// The sums of pairs of pixels and pairs of channels. With an odd number of pixels the last one takes both places of its
// pair.
template <int R, int NB>
struct Sums {
    static constexpr int kPairs = (R + 1) / 2;
    float32x4_t acc[kPairs][NB][2];

    HWY_INLINE explicit Sums(const float* bias) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) {
            const float64x2_t both = vreinterpretq_f64_f32(vld1q_f32(bias + n * P));
            HWY_UNROLL(8)
            for (int i = 0; i < kPairs; ++i) {
                acc[i][n][0] = vreinterpretq_f32_f64(vdupq_laneq_f64(both, 0));
                acc[i][n][1] = vreinterpretq_f32_f64(vdupq_laneq_f64(both, 1));
            }
        }
    }

    // Adds two pairs of channels; `second`: whether the second pair exists.
    HWY_INLINE void add(const uint16x8_t (&x)[kPairs], const uint16_t* w, bool second = true) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) {
            const uint32x4_t even = vreinterpretq_u32_u16(vld1q_u16(w + n * 2 * P));
            const uint32x4_t odd = second ? vreinterpretq_u32_u16(vld1q_u16(w + (NB + n) * 2 * P)) : vdupq_n_u32(0);
            const uint16x8_t b[2] = {vreinterpretq_u16_u32(vzip1q_u32(even, odd)),
                                     vreinterpretq_u16_u32(vzip2q_u32(even, odd))};
            HWY_UNROLL(8)
            for (int i = 0; i < kPairs; ++i) {
                multiplyFours(acc[i][n][0], x[i], b[0]);
                multiplyFours(acc[i][n][1], x[i], b[1]);
            }
        }
    }

    HWY_INLINE void store(float* out) const {
        HWY_UNROLL(16)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) {
                const float64x2_t a = vreinterpretq_f64_f32(acc[r / 2][n][0]),
                                  b = vreinterpretq_f64_f32(acc[r / 2][n][1]);
                vst1q_f32(out + (r * NB + n) * P, vreinterpretq_f32_f64(r % 2 ? vzip2q_f64(a, b) : vzip1q_f64(a, b)));
            }
        }
    }
};

// Loads four channels of pairs of pixels, which are contiguous (Dense) or s elements apart.
template <int R, bool Dense>
HWY_INLINE void loadPixels(const uint16_t* const (&q)[(R + 2) / 3], ptrdiff_t s, uint16x8_t (&x)[(R + 1) / 2]) {
    const auto at = [&](int r) HWY_ATTR { return Dense ? q[0] + r * P : q[r / 3] + (r % 3) * s; };
    HWY_UNROLL(8)
    for (int i = 0; i < (R + 1) / 2; ++i) {
        const int last = 2 * i + 1 < R ? 2 * i + 1 : 2 * i;
        x[i] = Dense && last > 2 * i ? vld1q_u16(at(2 * i)) : vcombine_u16(vld1_u16(at(2 * i)), vld1_u16(at(last)));
    }
}

template <int R, int NB, bool Dense>
HWY_NOINLINE void gemmTileBf16(const Bf16PanelArgs& t, const uint16_t* a, float* dst, const float* residual,
                               Ahead ahead) {
    constexpr int G = (R + 2) / 3;
    Sums<R, NB> sums(t.bias);
    const ptrdiff_t s = t.pixelStride, blockStride = t.blockStride;
    const uint16_t* w = t.w;
    uint16x8_t x[(R + 1) / 2];
    for (int tap = 0; tap < t.taps; ++tap) {
        const uint16_t* q[G];
        rowPointers<R>(q, a + t.tapOffset[tap], s);
        for (int block = 0; block < t.fullBlocks; ++block) {
            if constexpr (R > 1) ahead.fetch();
            loadPixels<R, Dense>(q, s, x);
            sums.add(x, w);
            w += NB * 4 * P;
            HWY_UNROLL(8)
            for (int g = 0; g < G; ++g) q[g] += blockStride;
        }
        if (t.tail) {
            loadPixels<R, Dense>(q, s, x);
            sums.add(x, w, t.tail > 2);
            w += NB * (t.tail > 2 ? 4 : 2) * P;
        }
    }
    HWY_ALIGN float rows[R * NB * P];
    sums.store(rows);
    finishStored<R, NB>(t, rows, dst, residual);
}

constexpr auto kDense = makeTiles<kRows>([]<int R, int NB>() { return &gemmTileBf16<R, NB, true>; });
constexpr auto kApart = makeTiles<kRows>([]<int R, int NB>() { return &gemmTileBf16<R, NB, false>; });

void gemmPanelBf16(const Bf16PanelArgs& t) {
    const ptrdiff_t lines = ptrdiff_t(t.taps) * (t.fullBlocks * (P / 2) + (t.tail + 1) / 2);
    runTiles(t, t.pixelStride == P ? kDense : kApart, kRows, lines, 2 * P, ptrdiff_t(t.taps) * t.fullBlocks);
}

struct ToBf16 {
    HWY_INLINE uint16x4_t operator()(float32x4_t x) const { return toBf16(x); }
};

constexpr Bf16Kernels kBf16Kernels = {&gemmPanelBf16, &roundHalves<ToBf16>, &roundBlockHalves<ToBf16>,
                                      &interleaveHalves<ToBf16>};

}  // namespace

const Bf16Kernels* bf16KernelsTable() {
    return &kBf16Kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
