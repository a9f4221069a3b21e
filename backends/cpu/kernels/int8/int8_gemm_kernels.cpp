// Matrix products of int8: one panel of output channels over many pixels.
#include "backends/cpu/kernels/int8/int8_kernels.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/int8/int8_gemm_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/int8/int8_tile-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE VI broadcast(const char* from) {
    int32_t step;
    std::memcpy(&step, from, 4);
    return hn::Set(DI(), step);
}

// Adds to sum the products of a pixel's step, in all lanes, with a vector of weights.
template <Product K>
HWY_INLINE void multiplyStep(VI& sum, VI x, VI w) {
#if MNNC_NEON64
    // The first numbers of all pairs come before the second ones (Int8Kernels::pairsApart).
    if constexpr (K == Product::Pairs) {
        const int16x8_t a = vreinterpretq_s16_s32(x.raw), b = vreinterpretq_s16_s32(w.raw);
        sum.raw = vmlal_high_laneq_s16(vmlal_laneq_s16(sum.raw, vget_low_s16(b), a, 0), b, a, 1);
        return;
    }
#elif HWY_TARGET == HWY_AVX2
    if constexpr (K == Product::Pairs) {
        // The compiler would compute several products before it adds them, and keep sums in memory meanwhile.
        __m256i products;
        asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(sum.raw), "=&x"(products) : "x"(x.raw), "x"(w.raw));
        return;
    }
#endif
    dot<K>(sum, x, w);
}

// The tile is R pixels by NB blocks of output channels, with all sums in registers.

template <Product K, int R, int NB>
HWY_INLINE void accumulate(VI (&acc)[R][NB], const char* const (&q)[(R + 2) / 3], ptrdiff_t s, int at, const char* w) {
    VI b[NB];
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) b[n] = hn::LoadU(DI(), reinterpret_cast<const int32_t*>(w + n * P * 4));
    HWY_UNROLL(32)
    for (int r = 0; r < R; ++r) {
        const VI x = broadcast(q[r / 3] + (r % 3) * s + at);
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) multiplyStep<K>(acc[r][n], x, b[n]);
    }
}

// `ahead`: weights of the next panel; each step prefetches a line of them.
template <Product K, int R, int NB>
HWY_INLINE const char* steps(VI (&acc)[R][NB], const char* p, ptrdiff_t s, int count, const char* w,
                             const char*& ahead) {
    constexpr int G = (R + 2) / 3;
    const char* q[G];
    HWY_UNROLL(8)
    for (int g = 0; g < G; ++g) {
        q[g] = p + 3 * g * s;
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
        asm("" : "+r"(q[g]));  // prevents the compiler from making R induction variables of the pointers
#endif
    }
    int i = 0;
    for (; i + 2 <= count; i += 2) {
        if constexpr (R > 1) {  // the products of a single row take less time than the prefetches
            __builtin_prefetch(ahead, 0, 2);
            if constexpr (P == 16) __builtin_prefetch(ahead + P * 4, 0, 2);
            ahead += 2 * P * 4;
        }
        accumulate<K, R, NB>(acc, q, s, 0, w);
        accumulate<K, R, NB>(acc, q, s, 4, w + NB * P * 4);
        w += 2 * NB * P * 4;
        HWY_UNROLL(8)
        for (int g = 0; g < G; ++g) q[g] += 8;
    }
    if (i < count) {
        accumulate<K, R, NB>(acc, q, s, 0, w);
        w += NB * P * 4;
    }
    return w;
}

// Tiles of the same size, computed one after another.
struct Run {
    int at, tiles;      // number of the first pixel, and of tiles
    const char* ahead;  // the weights of the next panel
    ptrdiff_t share;    // bytes of them that each of the first tiles prefetches
    int sharing;        // how many tiles prefetch
};

template <Product K, int R, int NB>
HWY_NOINLINE void gemmTileU8S8(const Int8PanelArgs& args, const Run& run) {
    const Int8PanelArgs t = args;  // a copy, because the compiler must assume that stores of bytes change the arguments
    const int blocks = t.fullBlocks + (t.tailSteps > 0), taps = t.taps;
    const ptrdiff_t pixel = t.pixelStride;
    const char* a = t.a + run.at * pixel;
    for (int tile = 0; tile < run.tiles; ++tile, a += R * pixel) {
        VI acc[R][NB];
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) acc[r][n] = hn::Zero(DI());
        }
        const char* w = t.w;
        const char* ahead = run.ahead + (tile < run.sharing ? tile * run.share : 0);
        for (int tap = 0; tap < taps; ++tap) {
            const char* p = a + t.tapOffset[tap];
            for (int block = 0; block < blocks; ++block, p += t.blockStride)
                w = steps<K, R, NB>(acc, p, pixel, block < t.fullBlocks ? t.fullSteps : t.tailSteps, w, ahead);
        }
        finishTile<K, R, NB>(acc, t, args, run.at + tile * R);
    }
}

using TileFn = void (*)(const Int8PanelArgs&, const Run&);

template <Product K, int NB, int... R>
constexpr void fillTiles(TileFn* out, std::integer_sequence<int, R...>) {
    ((out[R] = &gemmTileU8S8<K, R + 1, NB>), ...);
}

// 32 registers hold a tile of 28, or on Arm of 21 plus the intermediate values of a product of pairs. 16 registers hold
// 12, or 11 with such a value.
constexpr bool kManyRegisters = P == 16;
constexpr int kMaxBlocks = kManyRegisters ? 4 : 3;
#if MNNC_NEON64
constexpr int kMaxRows[5] = {0, 16, 10, 7, 0};
#elif HWY_TARGET == HWY_EMU128  // larger tiles are hardly faster, and take long to compile
constexpr int kMaxRows[5] = {0, 6, 4, 2, 0};
#else
constexpr int kMaxRows[5] = {0, kManyRegisters ? 16 : 11, kManyRegisters ? 14 : 6, kManyRegisters ? 9 : 3,
                             kManyRegisters ? 6 : 0};
#endif

// Tiles for sums of pairs are limited to those that Winograd convolutions need most, so that there is less code.
constexpr int kSumRows[5] = {0, kMaxRows[1] / 2, kMaxRows[2], 0, 0};
template <Product K>
constexpr const int (&kRows)[5] = K == Product::WordSums ? kSumRows : kMaxRows;
template <Product K>
constexpr int kBlocks = K == Product::WordSums ? 2 : kMaxBlocks;

template <Product K>
struct Tiles {
    TileFn fn[4][16] = {};
    constexpr Tiles() {
        fillTiles<K, 1>(fn[0], std::make_integer_sequence<int, kRows<K>[1]>());
        fillTiles<K, 2>(fn[1], std::make_integer_sequence<int, kRows<K>[2]>());
        if constexpr (kBlocks < K >> 2) fillTiles<K, 3>(fn[2], std::make_integer_sequence<int, kRows<K>[3]>());
        if constexpr (kBlocks < K >> 3) fillTiles<K, 4>(fn[3], std::make_integer_sequence<int, kRows<K>[4]>());
    }
};

// Results are stored in fours: where sums are short, tiles of whole fours are faster than the largest. Where they are
// long, larger tiles read the weights less often.
HWY_INLINE bool isShort(const Int8PanelArgs& t) {
    constexpr int kShortSteps = 72;  // of four channels
    return kManyRegisters && t.taps * (t.fullBlocks * t.fullSteps + t.tailSteps) <= kShortSteps;
}

template <Product K>
void gemmPanelU8S8(const Int8PanelArgs& t) {
    static constexpr Tiles<K> kTiles;
    const int maxRows = kRows<K>[t.nb], fours = maxRows / 4 * 4;
    // The panels are contiguous: while the tiles of this one run, each of the first tiles prefetches a part of the next
    // panel.
    const ptrdiff_t lines = ptrdiff_t(t.taps) * (t.fullBlocks * t.fullSteps + t.tailSteps);
    const char* next = t.w + lines * t.nb * P * 4;
    int at = 0, tile = t.firstTile;
    const auto run = [&](int rows, int tiles) {
        if (tiles == 0) return;
        const int sharing = std::max(0, t.nb - tile);
        kTiles.fn[t.nb - 1][rows - 1](
            t, {at, tiles, sharing ? next + tile * lines * P * 4 : next, lines * P * 4, sharing});
        tile += tiles;
        at += tiles * rows;
    };
    if (isShort(t) && t.m > 2 * maxRows) run(fours, (t.m - 2 * maxRows + fours - 1) / fours);
    // Tiles have equal sizes: 49 pixels are five of 8 and one of 9, not five of 9 and one of 4.
    const int rest = t.m - at, count = (rest + maxRows - 1) / maxRows, rows = rest / std::max(1, count);
    run(rows + 1, rest - rows * count);
    run(rows, count - (rest - rows * count));
}

template <Product K>
constexpr Int8GemmKernels kTable = {
    P, kBlocks<K>, {0, kRows<K>[1], kRows<K>[2], kRows<K>[3], kRows<K>[4]}, &gemmPanelU8S8<K>};

}  // namespace

const Int8GemmKernels& int8GemmPairs() {
    return kTable<Product::Pairs>;
}
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
const Int8GemmKernels& int8GemmVnni() {
    return kTable<Product::Vnni>;
}
const Int8GemmKernels& int8GemmWordSums() {
    return kTable<Product::WordSums>;
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const Int8GemmKernels& int8GemmKernels(Isa isa, Int8Product product) {
#if HWY_TARGETS & HWY_AVX3
    if (isa == Isa::Avx512 && product == Int8Product::Vnni) return N_AVX3::int8GemmVnni();
    if (isa == Isa::Avx512 && product == Int8Product::WordSums) return N_AVX3::int8GemmWordSums();
#endif
#if HWY_TARGETS & HWY_AVX2
    if (isa == Isa::Avx2 && product == Int8Product::Vnni) return N_AVX2::int8GemmVnni();
    if (isa == Isa::Avx2 && product == Int8Product::WordSums) return N_AVX2::int8GemmWordSums();
#endif
    static_cast<void>(product);
    MNNC_SELECT(isa, int8GemmPairs)
}
}  // namespace mnnc
#endif
