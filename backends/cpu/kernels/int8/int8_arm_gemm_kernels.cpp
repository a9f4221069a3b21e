// Matrix products of int8 with the instructions of 64-bit Arm for signed bytes: dot products of four (FEAT_DotProd), or
// products of matrices of eight by two (FEAT_I8MM).
#include "backends/cpu/kernels/int8/int8_kernels.h"

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/tiles.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/int8/int8_arm_gemm_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/int8/int8_tile-inl.h"
// clang-format on

#if MNNC_NEON64
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// A block of four channels is one step. The tile is R pixels by NB blocks of output channels, with all sums in
// registers.
constexpr int kMaxBlocks = 3;
constexpr int kMaxRows[5] = {0, 12, 12, 8, 0};

// The places of the steps of a tap: one in each block, or side by side in the pixels of a first layer.
struct Steps {
    ptrdiff_t stride;
    int count;
};

HWY_INLINE Steps stepsOf(const Int8PanelArgs& t) {
    if (t.fullSteps > 1) return {4, t.fullSteps};
    return {t.blockStride, t.fullBlocks + t.tailSteps};
}

// Loads a step of the pixels 4 * i to 4 * i + 3 into x[i].
template <int R, bool Dense>
HWY_INLINE void loadSteps(const char* p, ptrdiff_t s, int8x16_t (&x)[(R + 3) / 4]) {
    HWY_UNROLL(4)
    for (int i = 0; i < (R + 3) / 4; ++i) {
        if (Dense && 4 * i + 4 <= R) {
            x[i] = vld1q_s8(reinterpret_cast<const int8_t*>(p + 16 * i));
            continue;
        }
        const char* q = p + 4 * i * s;
        const auto word = [](const char* from) { return reinterpret_cast<const int32_t*>(from); };
        int32x4_t four = vld1q_dup_s32(word(q));
        if (4 * i + 1 < R) four = vld1q_lane_s32(word(q + s), four, 1);
        if (4 * i + 2 < R) four = vld1q_lane_s32(word(q + 2 * s), four, 2);
        if (4 * i + 3 < R) four = vld1q_lane_s32(word(q + 3 * s), four, 3);
        x[i] = vreinterpretq_s8_s32(four);
    }
}

HWY_INLINE int8x16_t weights(const char* w) {
    return vld1q_s8(reinterpret_cast<const int8_t*>(w));
}

template <int R, int NB, int At>
HWY_INLINE void dotRows(VI (&acc)[R][NB], const int8x16_t (&x)[(R + 3) / 4], const int8x16_t (&b)[NB]) {
    if constexpr (At < R) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) dotLane<At % 4>(acc[At][n].raw, b[n], x[At / 4]);
        dotRows<R, NB, At + 1>(acc, x, b);
    }
}

template <int R, int NB, bool Dense>
struct DotTile {
    static constexpr int kTogether = 1;
    VI acc[R][NB];

    HWY_INLINE explicit DotTile(const char* sums) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) {
            const VI start = hn::LoadU(DI(), reinterpret_cast<const int32_t*>(sums) + n * P);
            HWY_UNROLL(16)
            for (int r = 0; r < R; ++r) acc[r][n] = start;
        }
    }
    HWY_INLINE void step(const char* p, ptrdiff_t s, ptrdiff_t, const char* w) {
        int8x16_t x[(R + 3) / 4], b[NB];
        loadSteps<R, Dense>(p, s, x);
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) b[n] = weights(w + n * 16);
        dotRows<R, NB, 0>(acc, x, b);
    }
    HWY_INLINE void store(int32_t* out) const {
        HWY_UNROLL(16)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) hn::Store(acc[r][n], DI(), out + (r * NB + n) * P);
        }
    }
};

// Sums of pairs of pixels by pairs of channels. With an odd number of pixels the last one takes both places of its
// pair.
template <int R, int NB, bool Dense>
struct MatrixTile {
    static constexpr int kTogether = 2, kPairs = (R + 1) / 2;
    int32x4_t acc[kPairs][NB][2];

    HWY_INLINE explicit MatrixTile(const char* sums) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) {
            const int64x2_t both = vreinterpretq_s64_s32(vld1q_s32(reinterpret_cast<const int32_t*>(sums) + n * P));
            HWY_UNROLL(8)
            for (int i = 0; i < kPairs; ++i) {
                acc[i][n][0] = vreinterpretq_s32_s64(vdupq_laneq_s64(both, 0));
                acc[i][n][1] = vreinterpretq_s32_s64(vdupq_laneq_s64(both, 1));
            }
        }
    }
    // `second`: distance in bytes from the first step to the second.
    HWY_INLINE void step(const char* p, ptrdiff_t s, ptrdiff_t second, const char* w) {
        int8x16_t first[(R + 3) / 4], other[(R + 3) / 4], x[kPairs];
        loadSteps<R, Dense>(p, s, first);
        loadSteps<R, Dense>(p + second, s, other);
        HWY_UNROLL(8)
        for (int i = 0; i < kPairs; ++i) {
            const int32x4_t a = vreinterpretq_s32_s8(first[i / 2]), b = vreinterpretq_s32_s8(other[i / 2]);
            x[i] = vreinterpretq_s8_s32(i % 2 ? vzip2q_s32(a, b) : vzip1q_s32(a, b));
        }
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) {
            HWY_UNROLL(2)
            for (int half = 0; half < 2; ++half) {
                const int8x16_t b = weights(w + n * 32 + half * 16);
                HWY_UNROLL(8)
                for (int i = 0; i < kPairs; ++i) multiplyEights(acc[i][n][half], x[i], b);
            }
        }
    }
    HWY_INLINE void store(int32_t* out) const {
        HWY_UNROLL(16)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) {
                const int64x2_t a = vreinterpretq_s64_s32(acc[r / 2][n][0]),
                                b = vreinterpretq_s64_s32(acc[r / 2][n][1]);
                vst1q_s32(out + (r * NB + n) * P, vreinterpretq_s32_s64(r % 2 ? vzip2q_s64(a, b) : vzip1q_s64(a, b)));
            }
        }
    }
};

// All tiles of a size call this function, which keeps the code small.
template <int R, int NB>
HWY_NOINLINE void finishStored(const int32_t* sums, const Int8PanelArgs& t, int at) {
    VI acc[R][NB];
    HWY_UNROLL(16)
    for (int r = 0; r < R; ++r) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) acc[r][n] = hn::Load(DI(), sums + (r * NB + n) * P);
    }
    finishTile<Product::Dot, R, NB>(acc, t, t, at);
}

template <int R, int NB, typename Tile>
HWY_NOINLINE void gemmTileS8(const Int8PanelArgs& t, int at) {
    const Steps steps = stepsOf(t);
    const ptrdiff_t line = NB * P * 4;
    const int groups = (steps.count + Tile::kTogether - 1) / Tile::kTogether;
    Tile tile(t.w + t.taps * groups * Tile::kTogether * line);
    const char* a = t.a + at * t.pixelStride;
    const char* w = t.w;
    const ptrdiff_t s = t.pixelStride;
    for (int tap = 0; tap < t.taps; ++tap) {
        const char* p = a + t.tapOffset[tap];
        int i = 0;
        for (; i + 2 <= steps.count; i += 2, p += 2 * steps.stride, w += 2 * line) {
            tile.step(p, s, steps.stride, w);
            if (Tile::kTogether == 1) tile.step(p + steps.stride, s, 0, w + line);
        }
        if (i < steps.count) {
            tile.step(p, s, 0, w);  // the weights of the missing step are zero
            w += Tile::kTogether * line;
        }
    }
    HWY_ALIGN int32_t sums[R * NB * P];
    tile.store(sums);
    finishStored<R, NB>(sums, t, at);
}

template <template <int, int, bool> typename Tile>
void gemmPanelS8(const Int8PanelArgs& t) {
    static constexpr auto kDense =
        makeTiles<kMaxRows>([]<int R, int NB>() { return &gemmTileS8<R, NB, Tile<R, NB, true>>; });
    static constexpr auto kApart =
        makeTiles<kMaxRows>([]<int R, int NB>() { return &gemmTileS8<R, NB, Tile<R, NB, false>>; });
    const auto& fn = (t.pixelStride == 4 ? kDense : kApart).fn[t.nb - 1];
    forEqualTiles(t.m, kMaxRows[t.nb], [&](int at, int rows) { fn[rows - 1](t, at); });
}

template <template <int, int, bool> typename Tile>
constexpr Int8GemmKernels kTable = {
    P, kMaxBlocks, {0, kMaxRows[1], kMaxRows[2], kMaxRows[3], kMaxRows[4]}, &gemmPanelS8<Tile>};

}  // namespace

const Int8GemmKernels& int8ArmTable(Int8Product product) {
    return product == Product::Matrix ? kTable<MatrixTile> : kTable<DotTile>;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace mnnc {
const Int8GemmKernels& int8ArmGemmKernels(Int8Product product) {
#if HWY_ARCH_ARM_A64 && (HWY_TARGETS & HWY_NEON)
    return N_NEON::int8ArmTable(product);
#else
    return int8GemmKernels(Isa::Portable, product);
#endif
}
}  // namespace mnnc
#endif
