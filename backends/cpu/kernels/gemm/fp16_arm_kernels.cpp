// Matrix products of fp16 on 64-bit Arm (FEAT_FP16), for CPUs that have no products of bf16: two channels a step. A
// limited number of terms is added up in fp16, and these sums are added in fp32.
#include "backends/cpu/kernels/conv_kernels.h"

#include <cstring>

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gemm/fp16_arm_kernels.cpp"
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

// 32 registers hold a tile of 24 vectors of sums.
constexpr int kRows[5] = {0, 12, 12, 8, 0};
// Blocks of four channels that are added up in fp16: each lane has half of their terms. With 32 terms, of random signs
// or all of the same sign, a sum has a relative error of about 1e-3, similar to rounding the operands to bf16.
constexpr int kBlocksInHalves = 16;

// The sums of the even and the odd channels of the four outputs of a block, side by side.
template <int R, int NB>
struct HalfSums {
    uint16x8_t acc[R][NB];

    HWY_INLINE HalfSums() { clear(); }
    HWY_INLINE void clear() {
        HWY_UNROLL(16)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) acc[r][n] = vdupq_n_u16(0);
        }
    }
    // Adds a pair of channels.
    HWY_INLINE void add(const uint16_t* const (&q)[(R + 2) / 3], ptrdiff_t s, int pair, const uint16_t* w) {
        uint16x8_t b[NB];
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) b[n] = vld1q_u16(w + n * 2 * P);
        HWY_UNROLL(16)
        for (int r = 0; r < R; ++r) {
            uint32_t both;
            std::memcpy(&both, q[r / 3] + (r % 3) * s + 2 * pair, sizeof both);
            const uint16x8_t x = vreinterpretq_u16_u32(vdupq_n_u32(both));
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) multiplyHalves(acc[r][n], x, b[n]);
        }
    }
    // Adds the sums so far to `floats`.
    HWY_INLINE void flush(float* floats) {
        HWY_UNROLL(16)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) {
                const float16x8_t halves = vreinterpretq_f16_u16(acc[r][n]);
                const float32x4_t sum = vpaddq_f32(vcvt_f32_f16(vget_low_f16(halves)), vcvt_high_f32_f16(halves));
                float* to = floats + (r * NB + n) * P;
                vst1q_f32(to, vaddq_f32(vld1q_f32(to), sum));
            }
        }
        clear();
    }
};

template <int R, int NB>
HWY_NOINLINE void gemmTileFp16(const Bf16PanelArgs& t, const uint16_t* a, float* dst, const float* residual,
                               Ahead ahead) {
    constexpr int G = (R + 2) / 3;
    V acc[R][NB];
    startTile(t.bias, acc);
    HWY_ALIGN float floats[R * NB * P];
    HWY_UNROLL(16)
    for (int r = 0; r < R; ++r) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) vst1q_f32(floats + (r * NB + n) * P, acc[r][n].raw);
    }
    HalfSums<R, NB> sums;
    const ptrdiff_t s = t.pixelStride, blockStride = t.blockStride;
    const uint16_t* w = t.w;
    int left = kBlocksInHalves;
    for (int tap = 0; tap < t.taps; ++tap) {
        const uint16_t* q[G];
        rowPointers<R>(q, a + t.tapOffset[tap], s);
        for (int block = 0; block < t.fullBlocks; ++block) {
            if constexpr (R > 1) ahead.fetch();
            sums.add(q, s, 0, w);
            sums.add(q, s, 1, w + NB * 2 * P);
            w += NB * 4 * P;
            HWY_UNROLL(8)
            for (int g = 0; g < G; ++g) q[g] += blockStride;
            if (--left == 0) {
                sums.flush(floats);
                left = kBlocksInHalves;
            }
        }
        for (int l = 0; l < t.tail; l += 2) {
            sums.add(q, s, l / 2, w);
            w += NB * 2 * P;
        }
        if (t.tail && --left == 0) {
            sums.flush(floats);
            left = kBlocksInHalves;
        }
    }
    sums.flush(floats);
    finishStored<R, NB>(t, floats, dst, residual);
}

constexpr auto kTiles = makeTiles<kRows>([]<int R, int NB>() { return &gemmTileFp16<R, NB>; });

void gemmPanelFp16(const Bf16PanelArgs& t) {
    const ptrdiff_t lines = ptrdiff_t(t.taps) * (t.fullBlocks * (P / 2) + (t.tail + 1) / 2);
    runTiles(t, kTiles, kRows, lines, 2 * P, ptrdiff_t(t.taps) * t.fullBlocks);
}

struct ToFp16 {
    HWY_INLINE uint16x4_t operator()(float32x4_t x) const { return vreinterpret_u16_f16(vcvt_f16_f32(x)); }
};

constexpr Bf16Kernels kFp16Kernels = {&gemmPanelFp16, &roundHalves<ToFp16>, &roundBlockHalves<ToFp16>,
                                      &interleaveHalves<ToFp16>, "fp16"};

}  // namespace

const Bf16Kernels* fp16KernelsTable() {
    return &kFp16Kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
