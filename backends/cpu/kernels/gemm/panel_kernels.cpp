// The matrix products of convolutions and gemm: one panel of output channels over many pixels.
#include <array>

#include "backends/cpu/kernels/conv_kernels.h"

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/gemm/panel_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/gemm/panel_tile-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// Tiles of at most this many rows wait for their weights, which the CPU prefetches by the stride of each load
// instruction. Their loops are kept short, so that these strides are short.
constexpr int kStreamedRows = 2;

// The channels of a tail that are multiplied in one step: fewer for instruction sets whose code is kept small rather
// than fast.
constexpr int kTailSteps = P > 4 || MNNC_NEON64 ? 4 : 2;

// Whether taps of three and four channels have code of their own.
constexpr bool kShortTaps = P == 8;

// A tile prefetches one cache line of the next panel for each group of this many channels: the weights of one vector of
// outputs for these channels fill a line.
constexpr int kFetchChannels = 16 / P;

#if MNNC_NEON64
// Adds products of b with channel l of each row, row by row.
template <int R, int NB, int L>
HWY_INLINE void multiplyRows(V (&acc)[R][NB], const V (&x)[R], const V (&b)[NB]) {
    HWY_UNROLL(16)
    for (int r = 0; r < R; ++r) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) acc[r][n].raw = vfmaq_laneq_f32(acc[r][n].raw, b[n].raw, x[r].raw, L);
    }
}

// A vector of four channels of each row, whose products are taken one channel at a time.
template <int R, int NB>
HWY_INLINE void accumulateFour(D d, V (&acc)[R][NB], const float* const (&q)[(R + 2) / 3], ptrdiff_t s, const float* w,
                               Ahead& ahead) {
    if constexpr (R > 1) ahead.fetch();
    V x[R];
    HWY_UNROLL(16)
    for (int r = 0; r < R; ++r) x[r] = hn::LoadU(d, q[r / 3] + (r % 3) * s);
    const auto weights = [&](int l, V(&b)[NB]) HWY_ATTR {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) b[n] = hn::LoadU(d, w + (l * NB + n) * P);
    };
    V b[NB];
    weights(0, b);
    multiplyRows<R, NB, 0>(acc, x, b);
    weights(1, b);
    multiplyRows<R, NB, 1>(acc, x, b);
    weights(2, b);
    multiplyRows<R, NB, 2>(acc, x, b);
    weights(3, b);
    multiplyRows<R, NB, 3>(acc, x, b);
}
#endif

// With 16 registers a tile of 12 sums leaves 4, and GCC reads weights from memory again for each row, or keeps sums on
// the stack. Inline assembly, which it cannot split, and weights that it cannot reload prevent both: see
// benchmarks/inner_loops.py, which counts the instructions of a loop.
#if HWY_TARGET == HWY_AVX2 && (HWY_COMPILER_GCC || HWY_COMPILER_CLANG)
HWY_INLINE void keepLoaded(V& v) {
    asm("" : "+x"(v.raw));
}
HWY_INLINE V multiplyAdd(V x, V b, V sum) {
    asm("vfmadd231ps %2, %1, %0" : "+x"(sum.raw) : "x"(x.raw), "x"(b.raw));
    return sum;
}
#else
HWY_INLINE void keepLoaded(V&) {}
HWY_INLINE V multiplyAdd(V x, V b, V sum) {
    return hn::MulAdd(x, b, sum);
}
#endif

// Adds channel l of the rows.
template <int R, int NB>
HWY_INLINE void multiplyChannel(D d, V (&acc)[R][NB], const float* const (&q)[(R + 2) / 3], ptrdiff_t s, const float* w,
                                int l) {
    V b[NB];
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) {
        b[n] = hn::LoadU(d, w + (l * NB + n) * P);
        if constexpr (R > 1) keepLoaded(b[n]);
    }
    HWY_UNROLL(32)
    for (int r = 0; r < R; ++r) {
        const V x = hn::Set(d, q[r / 3][(r % 3) * s + l]);
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) acc[r][n] = multiplyAdd(x, b[n], acc[r][n]);
    }
}

template <int R, int NB, int L>
HWY_INLINE void accumulate(D d, V (&acc)[R][NB], const float* const (&q)[(R + 2) / 3], ptrdiff_t s, const float* w,
                           Ahead& ahead) {
#if MNNC_NEON64
    if constexpr (L == 4) return accumulateFour<R, NB>(d, acc, q, s, w, ahead);
#endif
    HWY_UNROLL(4)
    for (int l = 0; l < L; ++l) {
        if constexpr (R > kStreamedRows)  // smaller tiles have no time for it
            if (l % kFetchChannels == 0) ahead.fetch();
        multiplyChannel(d, acc, q, s, w, l);
    }
}

// Adds taps of L channels each, as the first layers of nets have them: they are too short for loops of their own.
template <int R, int NB, int L>
HWY_INLINE void takeShortTaps(D d, V (&acc)[R][NB], const PanelArgs& t, const float* a) {
    const ptrdiff_t s = t.pixelStride;
    const float* w = t.w;
    for (int tap = 0; tap < t.taps; ++tap, w += L * NB * P) {
        const float* q[(R + 2) / 3];
        rowPointers<R>(q, a + t.tapOffset[tap], s);
        HWY_UNROLL(4)
        for (int l = 0; l < L; ++l) multiplyChannel(d, acc, q, s, w, l);
    }
}

// A tile of one vector of outputs whose taps have one vector of channels, as in convolutions whose groups fill a
// vector. Loops over blocks and channels, and their prefetches, would take half of the time.
template <int R>
HWY_NOINLINE void vectorTileF32(const PanelArgs& t, const float* a, float* dst, const float* residual, Ahead) {
    const D d;
    V acc[R][1];
    startTile(t.bias, acc);
    const ptrdiff_t s = t.pixelStride;
    const float* w = t.w;
    for (int tap = 0; tap < t.taps; ++tap, w += P * P) {
        if (t.tapRun) w = t.w + ptrdiff_t(t.tapRun[tap]) * (P * P);
        const float* q[(R + 2) / 3];
        rowPointers<R>(q, a + t.tapOffset[tap], s);
        HWY_UNROLL(8)
        for (int l = 0; l < P; ++l) multiplyChannel(d, acc, q, s, w, l);
    }
    finishTile(t, acc, dst, residual);
}

// Adds L channels, then advances to the channels behind them.
template <int R, int NB, int L>
HWY_INLINE void takeSteps(D d, V (&acc)[R][NB], const float* (&q)[(R + 2) / 3], ptrdiff_t s, const float*& w,
                          Ahead& ahead) {
    accumulate<R, NB, L>(d, acc, q, s, w, ahead);
    w += L * NB * P;
    HWY_UNROLL(16)
    for (int g = 0; g < (R + 2) / 3; ++g) q[g] += L;
}

template <int R, int NB>
HWY_NOINLINE void gemmTileF32(const PanelArgs& t, const float* a, float* dst, const float* residual, Ahead ahead) {
    const D d;
    constexpr int G = (R + 2) / 3;
    V acc[R][NB];
    startTile(t.bias, acc);
    if constexpr (kShortTaps && R > kStreamedRows) {
        if (t.fullBlocks == 0 && !t.tapRun && (t.tail == 3 || t.tail == 4)) {
            t.tail == 3 ? takeShortTaps<R, NB, 3>(d, acc, t, a) : takeShortTaps<R, NB, 4>(d, acc, t, a);
            return finishTile(t, acc, dst, residual);
        }
    }
    const ptrdiff_t s = t.pixelStride;
    const float* w = t.w;
    const ptrdiff_t run = (ptrdiff_t(t.fullBlocks) * P + t.tail) * NB * P;
    for (int tap = 0; tap < t.taps; ++tap) {
        if (t.tapRun) w = t.w + t.tapRun[tap] * run;
        const float* p = a + t.tapOffset[tap];
        for (int block = 0; block < t.fullBlocks; ++block, p += t.blockStride) {
            const float* q[G];
            rowPointers<R>(q, p, s);
            if constexpr (R <= kStreamedRows) {
                HWY_UNROLL(1)
                for (int l = 0; l < P; l += 4) takeSteps<R, NB, 4>(d, acc, q, s, w, ahead);
            } else {
                for (int l = 0; l < P; l += 4) takeSteps<R, NB, 4>(d, acc, q, s, w, ahead);
            }
        }
        if (t.tail) {
            const float* q[G];
            rowPointers<R>(q, p, s);
            int l = 0;
            for (; l + kTailSteps <= t.tail; l += kTailSteps) takeSteps<R, NB, kTailSteps>(d, acc, q, s, w, ahead);
            if (kTailSteps > 2 && t.tail & 2) takeSteps<R, NB, 2>(d, acc, q, s, w, ahead);
            if (t.tail & 1) takeSteps<R, NB, 1>(d, acc, q, s, w, ahead);
        }
    }
    finishTile(t, acc, dst, residual);
}

// One row by two panels. The sums of a single panel are so few that each product would wait for the one before it.
template <int NB>
HWY_NOINLINE void gemmRowPairF32(const PanelArgs& t) {
    const D d;
    V left[1][NB], right[1][NB];
    startTile(t.bias, left);
    startTile(t.bias + NB * P, right);
    const ptrdiff_t apart = t.taps * (ptrdiff_t(t.fullBlocks) * P + t.tail) * NB * P;
    const float* w = t.w;
    Ahead none{};
    const auto take = [&]<int L>(const float*(&q)[1], std::integral_constant<int, L>) HWY_ATTR {
        accumulate<1, NB, L>(d, left, q, 0, w, none);
        accumulate<1, NB, L>(d, right, q, 0, w + apart, none);
        w += L * NB * P;
        q[0] += L;
    };
    for (int tap = 0; tap < t.taps; ++tap) {
        const float* p = t.a + t.tapOffset[tap];
        for (int block = 0; block < t.fullBlocks; ++block, p += t.blockStride) {
            const float* q[1] = {p};
            HWY_UNROLL(1)
            for (int l = 0; l < P; l += 4) take(q, std::integral_constant<int, 4>());
        }
        const float* q[1] = {p};
        int l = 0;
        for (; l + 4 <= t.tail; l += 4) take(q, std::integral_constant<int, 4>());
        for (; l < t.tail; ++l) take(q, std::integral_constant<int, 1>());
    }
    PanelArgs whole = t;
    whole.lastLanes = P;
    finishTile(whole, left, t.dst, t.residual);
    const ptrdiff_t behind = NB * t.dstBlockStride;
    finishTile(t, right, t.dst + behind, t.residual ? t.residual + behind : nullptr);
}

template <int... I>
constexpr auto rowPairs(std::integer_sequence<int, I...>) {
    return std::array{&gemmRowPairF32<I + 1>...};
}
constexpr auto kRowPairs = rowPairs(std::make_integer_sequence<int, kMaxBlocks>());

constexpr auto kTiles = makeTiles<kMaxRows>([]<int R, int NB>() { return &gemmTileF32<R, NB>; });

template <int... R>
constexpr auto vectorTiles(std::integer_sequence<int, R...>) {
    return TileTable<decltype(&vectorTileF32<1>)>{{{&vectorTileF32<R + 1>...}}};
}

void gemmPanelF32(const PanelArgs& t) {
    if (t.pair) return kRowPairs[t.nb - 1](t);
    if constexpr (kShortTaps)
        if (t.nb == 1 && t.fullBlocks == 1 && t.tail == 0) {
            static constexpr auto kVectorTiles = vectorTiles(std::make_integer_sequence<int, kMaxRows[1]>());
            return runTiles(t, kVectorTiles, kMaxRows, ptrdiff_t{t.taps} * P, P, 0);
        }
    const ptrdiff_t channels = ptrdiff_t(t.taps) * (t.fullBlocks * P + t.tail);
    runTiles(t, kTiles, kMaxRows, channels, P, channels / kFetchChannels);
}

}  // namespace

const PanelKernels& panelKernelsTable() {
    static constexpr PanelKernels table = {
        P,
        kMaxBlocks,
        {0, kMaxRows[1], kMaxRows[2], kMaxRows[3], kMaxRows[4]},
        &gemmPanelF32,
    };
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const PanelKernels& panelKernels(Isa isa) {
    MNNC_SELECT(isa, panelKernelsTable)
}
}  // namespace mnnc
#endif
