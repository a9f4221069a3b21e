// Matrix products of 16-bit activations with weights of 8 or 4 bits on 64-bit Arm (FEAT_DotProd): an activation q is
// 256 * high + low + 128 with two signed bytes, each of which has its own sums.
#include "backends/cpu/kernels/w8a16/w8a16_kernels.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/w8a16/w8a16_arm_gemm_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/gemm/arm_products-inl.h"
#include "backends/cpu/kernels/w8a16/w8a16_tile-inl.h"
// clang-format on

#if MNNC_NEON64
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

using VI = hn::Vec<hn::Rebind<int32_t, D>>;

// The sums of high and low bytes of a tile take at most 20 of 32 registers.
constexpr int kRows[5] = {0, 10, 4, 3, 0};
// The blocks of channels whose sums fit 32 bits: 8190 x 4 x 128 x 128 < 2^31. The number is even, since two are read at
// a time.
constexpr int kExactBlocks = 8190;
constexpr int kShift = 128;  // added to activations: see above

// The bytes of four channels of R pixels; with one pixel, those of two blocks.
template <int R>
struct Activations {
    static constexpr int kFours = (R + 3) / 4;
    int8x16_t high[kFours], low[kFours];

    HWY_INLINE void set(int i, int16x8_t a, int16x8_t b) {
        const int8x16_t x = vreinterpretq_s8_s16(a), y = vreinterpretq_s8_s16(b);
        high[i] = vuzp2q_s8(x, y);
        low[i] = veorq_s8(vuzp1q_s8(x, y), vdupq_n_s8(-128));
    }
    // Loads block p. With one pixel it also loads block `next`, which is ignored otherwise.
    HWY_INLINE void load(const int16_t* p, ptrdiff_t s, const int16_t* next) {
        if constexpr (R == 1) {
            const int16x8_t both = vcombine_s16(vld1_s16(p), vld1_s16(next));
            return set(0, both, both);
        }
        HWY_UNROLL(3)
        for (int i = 0; i < kFours; ++i) {
            const auto at = [&](int r) HWY_ATTR { return vld1_s16(p + std::min(4 * i + r, R - 1) * s); };
            set(i, vcombine_s16(at(0), at(1)), vcombine_s16(at(2), at(3)));
        }
    }
};

template <int R, int NB>
struct Sums {
    VI high[R][NB], low[R][NB];

    HWY_INLINE Sums() { clear(); }
    HWY_INLINE void clear() {
        HWY_UNROLL(16)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) high[r][n] = low[r][n] = VI(vdupq_n_s32(0));
        }
    }
    // Multiplies block `Block` of the two of one pixel, or of all pixels.
    template <int Block, int At = 0>
    HWY_INLINE void add(const Activations<R>& x, const int8x16_t (&w)[NB]) {
        if constexpr (At < R) {
            constexpr int kLane = R == 1 ? Block : At % 4;
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) {
                dotLane<kLane>(high[At][n].raw, w[n], x.high[At / 4]);
                dotLane<kLane>(low[At][n].raw, w[n], x.low[At / 4]);
            }
            add<Block, At + 1>(x, w);
        }
    }
    HWY_INLINE V value(int r, int n) const {
        return V(vfmaq_n_f32(vcvtq_f32_s32(low[r][n].raw), vcvtq_f32_s32(high[r][n].raw), 256.0f));
    }
};

// The state of the sums: exact ones are in registers, those of earlier channels, scaled, are floats.
struct Progress {
    const float *scale, *min;  // of the current block of weights
    const float* blockSums;    // of the activations that it is multiplied with; null unless blocks have minima
    // Blocks of channels until the sums are scaled, and until the next block of weights.
    int toFlush, toBlock;
};

// Adds the exact sums so far to the float ones.
template <int R, int NB>
HWY_INLINE void flush(Sums<R, NB>& sums, const Progress& at, const W8A16PanelArgs& t, float* floats) {
    const D d;
    for (int n = 0; n < NB; ++n) {
        const V scale = hn::LoadU(d, at.scale + n * P);
        HWY_UNROLL(16)
        for (int r = 0; r < R; ++r) {
            float* to = floats + (r * NB + n) * P;
            V all = hn::MulAdd(sums.value(r, n), scale, hn::Load(d, to));
            if (at.blockSums && at.toBlock == 0)
                all = hn::MulAdd(hn::Set(d, at.blockSums[r * t.blocks] - lacking<kShift>(t)),
                                 hn::LoadU(d, at.min + n * P), all);
            hn::Store(all, d, to);
        }
    }
    sums.clear();
}

// Prepares the products of `blocks` blocks of channels.
template <int R, int NB>
HWY_INLINE void begin(Sums<R, NB>& sums, Progress& at, const W8A16PanelArgs& t, int blocks, float* floats) {
    if (HWY_UNLIKELY(at.toFlush < blocks)) {
        flush(sums, at, t, floats);
        if (at.toBlock == 0) {
            at.scale += NB * P;
            if (at.blockSums) {
                at.min += NB * P;
                ++at.blockSums;
            }
            at.toBlock = t.blockLength;
        }
        at.toFlush = std::min(at.toBlock, kExactBlocks);
    }
    at.toFlush -= blocks;
    at.toBlock -= blocks;
}

// Multiplies two blocks of channels, or one (`single`); with 4 bits the weights of a missing block are zero.
template <int Bits, int R, int NB>
HWY_INLINE void accumulate(Sums<R, NB>& sums, const int16_t* p, ptrdiff_t s, ptrdiff_t block, bool single,
                           const int8_t*& w) {
    const int16_t* next = single ? p : p + block;
    Activations<R> x;
    x.load(p, s, next);
    int8x16_t first[NB], second[NB];
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) {
        const int8x16_t codes = vld1q_s8(w + n * 16);
        first[n] = Bits == 8 ? codes : vshrq_n_s8(vshlq_n_s8(codes, 4), 4);
        second[n] = vshrq_n_s8(codes, 4);
    }
    w += NB * 16;
    sums.template add<0>(x, first);
    if (single) return;
    if constexpr (Bits == 8) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) second[n] = vld1q_s8(w + n * 16);
        w += NB * 16;
    }
    if constexpr (R > 1) x.load(next, s, next);
    sums.template add<1>(x, second);
}

template <int Bits, int R, int NB>
HWY_NOINLINE void gemmTileS16(const W8A16PanelArgs& t, const int16_t* a, float* dst, const float* residual) {
    const D d;
    const ptrdiff_t s = t.pixelStride, pixel = (a - t.a) / s, stride = t.blockStride;
    Progress at{t.scale, t.min, t.blockSums ? t.blockSums + pixel * t.blocks : nullptr,
                std::min(t.blockLength, kExactBlocks), t.blockLength};
    HWY_ALIGN float floats[R * NB * P];
    const int blocks = t.fullBlocks + (t.tail > 0);
    const bool many = int64_t{t.taps} * (blocks + 1) > at.toFlush;
    if (many) std::memset(floats, 0, sizeof floats);
    Sums<R, NB> sums;
    const int8_t* w = t.w;
    for (int tap = 0; tap < t.taps; ++tap) {
        const int16_t* p = a + t.tapOffset[tap];
        int block = 0;
        for (; block + 2 <= blocks; block += 2, p += 2 * stride) {
            begin(sums, at, t, 2, floats);
            accumulate<Bits, R, NB>(sums, p, s, stride, false, w);
        }
        if (block < blocks) {
            begin(sums, at, t, 1, floats);
            accumulate<Bits, R, NB>(sums, p, s, stride, true, w);
        }
    }
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) {
        const V scale = hn::LoadU(d, at.scale + n * P);
        HWY_UNROLL(16)
        for (int r = 0; r < R; ++r) {
            float* to = floats + (r * NB + n) * P;
            const V value = hn::Mul(sums.value(r, n), scale);
            hn::Store(many ? hn::Add(value, hn::Load(d, to)) : value, d, to);
        }
    }
    finishRows<kShift, NB>(t, floats, R, at.min, at.blockSums, pixel, dst, residual);
}

template <int Bits>
void gemmPanelS16(const W8A16PanelArgs& t) {
    static constexpr auto kTiles = makeTiles<kRows>([]<int R, int NB>() { return &gemmTileS16<Bits, R, NB>; });
    forEqualTiles(t.m, kRows[t.nb], [&](int at, int rows) {
        kTiles.fn[t.nb - 1][rows - 1](t, t.a + at * t.pixelStride, t.dst + at * t.dstPixelStride,
                                      t.residual ? t.residual + at * t.dstPixelStride : nullptr);
    });
}

template <int Bits>
constexpr W8A16Panels kPanels = {kMaxBlocks, {0, kRows[1], kRows[2], kRows[3], kRows[4]}, &gemmPanelS16<Bits>};

}  // namespace

const W8A16Panels& w8a16ArmTable(int bits) {
    return bits == 8 ? kPanels<8> : kPanels<4>;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE && HWY_ARCH_ARM_A64 && (HWY_TARGETS & HWY_NEON)
namespace mnnc {
const W8A16Panels& w8a16ArmPanels(int bits) {
    return N_NEON::w8a16ArmTable(bits);
}
}  // namespace mnnc
#endif
