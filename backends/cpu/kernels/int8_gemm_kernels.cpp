// Matrix products of int8: one panel of output channels over many pixels.
#include "backends/cpu/kernels/int8_kernels.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/int8_gemm_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/int8_math-inl.h"
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

// The tile is R pixels by NB blocks of output channels, with all sums in registers.

template <Product K, int R, int NB>
HWY_INLINE void accumulate(VI (&acc)[R][NB], const char* const (&q)[(R + 2) / 3], ptrdiff_t s, int at,
                           const char* w) {
    VI b[NB];
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) b[n] = hn::LoadU(DI(), reinterpret_cast<const int32_t*>(w + n * P * 4));
    HWY_UNROLL(32)
    for (int r = 0; r < R; ++r) {
        const VI x = broadcast(q[r / 3] + (r % 3) * s + at);
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) dot<K>(acc[r][n], x, b[n]);
    }
}

// `ahead`: weights of the next panel; each step fetches a line of them.
template <Product K, int R, int NB>
HWY_INLINE const char* steps(VI (&acc)[R][NB], const char* p, ptrdiff_t s, int count, const char* w,
                             const char*& ahead) {
    constexpr int G = (R + 2) / 3;
    const char* q[G];
    HWY_UNROLL(8)
    for (int g = 0; g < G; ++g) {
        q[g] = p + 3 * g * s;
#if HWY_COMPILER_GCC || HWY_COMPILER_CLANG
        asm("" : "+r"(q[g]));  // or the compiler rewrites them as R separate induction variables
#endif
    }
    int i = 0;
    for (; i + 2 <= count; i += 2) {
        if constexpr (R > 1) {  // a single row has no time for it
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

struct Finish {
#if HWY_ARCH_ARM
    HWY_INLINE Finish() {}  // one that GCC makes lacks the attributes of Highway's NEON target
#endif
    VF ratio, lo, hi;
    ptrdiff_t pixel, block;  // strides of the results
    const float *scales, *offsets;
#if HWY_TARGET == HWY_AVX3
    __m512i lo8, hi8;
#endif
};

// What is known of the results.
enum class Results {
    Any,
    Dense,    // of pixels that touch one another, and bounded
    Unsigned  // that, and clipped to numbers that are not negative
};

template <Results Kind, int R, int NB, int N, int At>
HWY_INLINE void finishRows(const VI (&acc)[R][NB], const Finish& f, VF scale, VF offset, int8_t* dst) {
    const DF df;
#define MNNC_VALUE(r) hn::Add(hn::Mul(hn::Mul(hn::ConvertTo(df, acc[r][N]), scale), f.ratio), offset)
#if HWY_TARGET == HWY_AVX3
    if constexpr (Kind != Results::Any &&
                  At < R) {  // the last of fewer than four stand in for those that are missing
        constexpr int kLast = std::min(R, At + 4) - 1;
        constexpr int k1 = std::min(At + 1, kLast), k2 = std::min(At + 2, kLast);
        __m512i q[4];
        constexpr bool kUnsigned = Kind == Results::Unsigned;
        q[0] = boundedRound<kUnsigned>(MNNC_VALUE(At));
        q[1] = k1 > At ? boundedRound<kUnsigned>(MNNC_VALUE(k1)) : q[0];
        q[2] = k2 > k1 ? boundedRound<kUnsigned>(MNNC_VALUE(k2)) : q[1];
        q[3] = kLast > k2 ? boundedRound<kUnsigned>(MNNC_VALUE(kLast)) : q[2];
        storeFour<kLast + 1 - At>(q[0], q[1], q[2], q[3], f.lo8, f.hi8, dst + At * P);
        return finishRows<Kind, R, NB, N, At + 4>(acc, f, scale, offset, dst);
    }
#endif
    if constexpr (At < R) {
        store(MNNC_VALUE(At), f.lo, f.hi, dst + At * f.pixel);
        finishRows<Kind, R, NB, N, At + 1>(acc, f, scale, offset, dst);
    }
#undef MNNC_VALUE
}

template <Results Kind, int R, int NB, int N>
HWY_INLINE void finishBlocks(const VI (&acc)[R][NB], const Finish& f, int8_t* dst) {
    if constexpr (N < NB) {
        const DF df;
        finishRows<Kind, R, NB, N, 0>(acc, f, hn::LoadU(df, f.scales + N * P),
                                      hn::LoadU(df, f.offsets + N * P), dst + N * f.block);
        finishBlocks<Kind, R, NB, N + 1>(acc, f, dst);
    }
}

template <Product K, int R, int NB>
HWY_NOINLINE void gemmTileU8S8(const Int8PanelArgs& t, int at, const char* ahead) {
    const DF df;
    VI acc[R][NB];
    HWY_UNROLL(32)
    for (int r = 0; r < R; ++r) {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) acc[r][n] = hn::Zero(DI());
    }
    const char* a = t.a + at * t.pixelStride;
    const char* w = t.w;
    for (int tap = 0; tap < t.taps; ++tap) {
        const char* p = a + t.tapOffset[tap];
        for (int block = 0; block < t.fullBlocks; ++block, p += t.blockStride)
            w = steps<K, R, NB>(acc, p, t.pixelStride, t.fullSteps, w, ahead);
        if (t.tailSteps) w = steps<K, R, NB>(acc, p, t.pixelStride, t.tailSteps, w, ahead);
    }
    // Copies: stores of bytes might change the arguments, as far as the compiler knows.
    const ptrdiff_t ps = t.dstPixelStride, bs = t.dstBlockStride;
    const float *scales = t.scale, *offsets = t.offset;
    const VF ratio = hn::Set(df, t.ratio), lo = hn::Set(df, t.lo), hi = hn::Set(df, t.hi);
    if (HWY_UNLIKELY(t.min != nullptr || t.floats != nullptr || t.sums != nullptr)) {
        // Written out first: sums that a loop variable indexes would stay in memory all the time.
        HWY_ALIGN int32_t sums[R * NB * P];
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) hn::Store(acc[r][n], DI(), sums + (r * NB + n) * P);
        }
        for (int n = 0; n < NB; ++n)
            for (int r = 0; r < R; ++r) {
                const ptrdiff_t to = (at + r) * ps + n * bs;
                const VI sum = hn::Load(DI(), sums + (r * NB + n) * P);
                if (t.sums) {
                    hn::StoreU(sum, DI(), t.sums + to);
                    continue;
                }
                VF v = hn::Mul(hn::Mul(hn::ConvertTo(df, sum), hn::LoadU(df, scales + n * P)), ratio);
                if (t.min)
                    v = hn::Add(v, hn::Mul(hn::Set(df, t.pixelSums[at + r]), hn::LoadU(df, t.min + n * P)));
                v = hn::Add(v, hn::LoadU(df, offsets + n * P));
                if (t.floats)
                    hn::StoreU(clamp(v, lo, hi), df, t.floats + to);
                else
                    store(v, lo, hi, t.dst + to);
            }
        return;
    }
    Finish f;
    f.ratio = ratio, f.lo = lo, f.hi = hi;
    f.pixel = ps, f.block = bs;
    f.scales = scales, f.offsets = offsets;
#if HWY_TARGET == HWY_AVX3
    if (HWY_LIKELY(ps == P && t.bounded)) {
        f.lo8 = _mm512_set1_epi8(static_cast<char>(t.lo));
        f.hi8 = _mm512_set1_epi8(static_cast<char>(t.hi));
        int8_t* dst = t.dst + at * ps;
        if (K == Product::Vnni && t.lo >= 0) return finishBlocks<Results::Unsigned, R, NB, 0>(acc, f, dst);
        return finishBlocks<Results::Dense, R, NB, 0>(acc, f, dst);
    }
#endif
    finishBlocks<Results::Any, R, NB, 0>(acc, f, t.dst + at * ps);
}

using TileFn = void (*)(const Int8PanelArgs&, int, const char*);

template <Product K, int NB, int... R>
constexpr void fillTiles(TileFn* out, std::integer_sequence<int, R...>) {
    ((out[R] = &gemmTileU8S8<K, R + 1, NB>), ...);
}

// 32 registers hold a tile of 28; 16 hold 12, less the one that a product of pairs goes through.
constexpr bool kManyRegisters = P == 16;
constexpr int kMaxBlocks = kManyRegisters ? 4 : 3;
constexpr int kMaxRows[5] = {0, kManyRegisters ? 16 : 11, kManyRegisters ? 14 : 6, kManyRegisters ? 9 : 3,
                             kManyRegisters ? 6 : 0};

template <Product K>
struct Tiles {
    TileFn fn[4][16] = {};
    constexpr Tiles() {
        fillTiles<K, 1>(fn[0], std::make_integer_sequence<int, kMaxRows[1]>());
        fillTiles<K, 2>(fn[1], std::make_integer_sequence<int, kMaxRows[2]>());
        fillTiles<K, 3>(fn[2], std::make_integer_sequence<int, kMaxRows[3]>());
        if constexpr (kMaxBlocks > 3) fillTiles<K, 4>(fn[3], std::make_integer_sequence<int, kMaxRows[4]>());
    }
};

// Results are stored in fours: where sums are short, tiles of whole fours are faster than the largest. Where they are long,
// larger tiles read the weights less often.
HWY_INLINE bool isShort(const Int8PanelArgs& t) {
    constexpr int kShortSteps = 72;  // of four channels
    return kManyRegisters && t.taps * (t.fullBlocks * t.fullSteps + t.tailSteps) <= kShortSteps;
}

template <Product K>
void gemmPanelU8S8(const Int8PanelArgs& t) {
    static constexpr Tiles<K> kTiles;
    const int most = kMaxRows[t.nb], fours = most / 4 * 4;
    // The panels lie one after another: while this one's tiles run, each of the first fetches its share of the next.
    const ptrdiff_t lines = ptrdiff_t(t.taps) * (t.fullBlocks * t.fullSteps + t.tailSteps);
    const char* next = t.w + lines * t.nb * P * 4;
    int tile = t.firstTile;
    const auto run = [&](int at, int rows) {
        kTiles.fn[t.nb - 1][rows - 1](t, at, tile < t.nb ? next + tile * lines * P * 4 : next);
        ++tile;
    };
    int at = 0;
    if (isShort(t))
        for (; t.m - at > 2 * most; at += fours) run(at, fours);
    // Equal tiles: 49 pixels are five of 8 and one of 9, not five of 9 and one of 4.
    const int begin = at, rest = t.m - at, count = (rest + most - 1) / most;
    for (int i = 0; i < count; ++i) {
        const int end = begin + static_cast<int>(static_cast<long>(rest) * (i + 1) / count);
        run(at, end - at);
        at = end;
    }
}

template <Product K>
constexpr Int8GemmKernels kTable = {
    P, kMaxBlocks, {0, kMaxRows[1], kMaxRows[2], kMaxRows[3], kMaxRows[4]}, &gemmPanelU8S8<K>};

}  // namespace

const Int8GemmKernels& int8GemmPairs() {
    return kTable<Product::Pairs>;
}
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
const Int8GemmKernels& int8GemmVnni() {
    return kTable<Product::Vnni>;
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
#endif
#if HWY_TARGETS & HWY_AVX2
    if (isa == Isa::Avx2 && product == Int8Product::Vnni) return N_AVX2::int8GemmVnni();
#endif
    static_cast<void>(product);
    MNNC_SELECT(isa, int8GemmPairs)
}
}  // namespace mnnc
#endif
