// Matrix products of 16-bit activations with weights of 8 or 4 bits (AVX512-VNNI, AVX2).
#include "backends/cpu/kernels/w8a16/w8a16_kernels.h"

#include <cstring>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/processor/cpu_features.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/w8a16/w8a16_gemm_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/gemm/panel_tile-inl.h"
#include "backends/cpu/kernels/w8a16/w8a16_products-inl.h"
#include "backends/cpu/kernels/w8a16/w8a16_tile-inl.h"
// clang-format on

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

template <int Bits>
constexpr int kExactBlocks = w8a16ExactBlocks(Bits);

// The sizes of tiles. With weights of 4 bits the packed form stays in registers, too; with AVX2 also a product. Layers
// of a single block of outputs are too small to be worth the code of larger tiles.
#if HWY_TARGET == HWY_AVX3
constexpr const int (&kMaxRows8)[5] = kMaxRows;
constexpr int kMaxRows4[5] = {0, 16, 12, 8, 5};
#else
constexpr int kMaxRows8[5] = {0, 4, 6, 3, 0};
constexpr int kMaxRows4[5] = {0, 4, 5, 2, 0};
#endif
template <int Bits>
constexpr const int (&kRows)[5] = Bits == 8 ? kMaxRows8 : kMaxRows4;

// The state of the sums: exact ones are in registers, those of earlier channels, scaled, are floats.
struct Progress {
    const float *scale, *min;  // of the current block of weights
    const float* blockSums;    // of the activations that it is multiplied with; null unless blocks have minima
    // Blocks of channels until the sums are scaled, and until the next block of weights.
    int toFlush, toBlock;
};

// Adds the exact sums so far to the float ones.
template <int R, int NB>
HWY_INLINE void flush(VI (&acc)[R][NB], const Progress& at, int blocks, float* sums) {
    const D d;
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) {
        const V scale = hn::LoadU(d, at.scale + n * P);
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            float* to = sums + (r * NB + n) * P;
            hn::Store(hn::MulAdd(hn::ConvertTo(d, acc[r][n]), scale, hn::Load(d, to)), d, to);
            acc[r][n] = hn::Zero(DI());
        }
    }
    if (!at.blockSums || at.toBlock > 0) return;
    for (int r = 0; r < R; ++r) {
        const V all = hn::Set(d, at.blockSums[r * blocks]);
        for (int n = 0; n < NB; ++n) {
            float* to = sums + (r * NB + n) * P;
            hn::Store(hn::MulAdd(all, hn::LoadU(d, at.min + n * P), hn::Load(d, to)), d, to);
        }
    }
}

// Prepares the products of a block of channels.
template <int Bits, int R, int NB>
HWY_INLINE void begin(VI (&acc)[R][NB], Progress& at, const W8A16PanelArgs& t, float* sums) {
    if (HWY_UNLIKELY(at.toFlush == 0)) {
        flush(acc, at, t.blocks, sums);
        if (at.toBlock == 0) {
            at.scale += NB * P;
            if (at.blockSums) {
                at.min += NB * P;
                ++at.blockSums;
            }
            at.toBlock = t.blockLength;
        }
        at.toFlush = std::min(at.toBlock, kExactBlocks<Bits>);
    }
    --at.toFlush;
    --at.toBlock;
}

template <int Bits, int R, int NB>
HWY_NOINLINE void gemmTileS16(const W8A16PanelArgs& t, const int16_t* a, float* dst, const float* residual) {
    const D d;
    const ptrdiff_t s = t.pixelStride, pixel = (a - t.a) / s;
    Progress at{t.scale, t.min, t.blockSums ? t.blockSums + pixel * t.blocks : nullptr,
                std::min(t.blockLength, kExactBlocks<Bits>), t.blockLength};
    HWY_ALIGN float sums[R * NB * P];
    const bool many = int64_t{t.taps} * (t.fullBlocks + (t.tail > 0)) > at.toFlush;
    if (many) std::memset(sums, 0, sizeof sums);
    VI acc[R][NB];
    HWY_UNROLL(32)
    for (int r = 0; r < R; ++r) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) acc[r][n] = hn::Zero(DI());
    }
    const int8_t* w = t.w;
    for (int tap = 0; tap < t.taps; ++tap) {
        const int16_t* p = a + t.tapOffset[tap];
        for (int block = 0; block < t.fullBlocks; ++block, p += t.blockStride) {
            begin<Bits>(acc, at, t, sums);
            accumulateGroups<Bits, R, NB>(acc, p, s, kPairs / kGroup, w);
        }
        if (t.tail) {
            begin<Bits>(acc, at, t, sums);
            accumulateTail<Bits, R, NB>(acc, p, s, t.tail, w);
        }
    }
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) {
        const V scale = hn::LoadU(d, at.scale + n * P);
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            float* to = sums + (r * NB + n) * P;
            const V last = hn::Mul(hn::ConvertTo(d, acc[r][n]), scale);
            hn::Store(many ? hn::Add(last, hn::Load(d, to)) : last, d, to);
        }
    }
    finishRows<0, NB>(t, sums, R, at.min, at.blockSums, pixel, dst, residual);
}

template <int Bits>
void gemmPanelS16(const W8A16PanelArgs& t) {
    static constexpr auto kTiles = makeTiles<kRows<Bits>>([]<int R, int NB>() { return &gemmTileS16<Bits, R, NB>; });
    forEqualTiles(t.m, kRows<Bits>[t.nb], [&](int at, int rows) {
        kTiles.fn[t.nb - 1][rows - 1](t, t.a + at * t.pixelStride, t.dst + at * t.dstPixelStride,
                                      t.residual ? t.residual + at * t.dstPixelStride : nullptr);
    });
}

template <int Bits>
constexpr W8A16Panels kPanels = {
    kMaxBlocks, {0, kRows<Bits>[1], kRows<Bits>[2], kRows<Bits>[3], kRows<Bits>[4]}, &gemmPanelS16<Bits>};

}  // namespace

const W8A16Panels& w8a16Panels8() {
    return kPanels<8>;
}
const W8A16Panels& w8a16Panels4() {
    return kPanels<4>;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace mnnc {
const W8A16Panels* w8a16Panels(Isa isa, int bits) {
#if HWY_TARGETS & HWY_AVX3
    if (isa == Isa::Avx512 && detectCpuFeatures().avx512Vnni)
        return bits == 8 ? &N_AVX3::w8a16Panels8() : &N_AVX3::w8a16Panels4();
#endif
#if HWY_TARGETS & HWY_AVX2
    if (isa == Isa::Avx2) return bits == 8 ? &N_AVX2::w8a16Panels8() : &N_AVX2::w8a16Panels4();
#endif
    static_cast<void>(isa), static_cast<void>(bits);
    return nullptr;
}
}  // namespace mnnc
#endif
