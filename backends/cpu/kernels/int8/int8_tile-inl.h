// The end of a tile of int8 products: exact sums become codes or floats, or are stored as sums. It is included once per
// instruction set, hence the toggling guard.
#if defined(MNNC_INT8_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNNC_INT8_TILE_INL_H
#undef MNNC_INT8_TILE_INL_H
#else
#define MNNC_INT8_TILE_INL_H
#endif

#include <algorithm>

#include "backends/cpu/kernels/int8/int8_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

struct Finish {
#if HWY_ARCH_ARM
    HWY_INLINE Finish() {}  // written out, because one that GCC generates lacks the attributes of Highway's NEON target
#endif
    VF ratio, lo, hi;
    ptrdiff_t pixel, block;  // strides of the results
    const float *scales, *offsets;
#if MNNC_STORES_FOURS
    Octets lo8, hi8;
#endif
};

// The properties of the results that allow faster stores.
enum class Results {
    Any,
    Dense,    // the pixels are contiguous, and the results bounded
    Unsigned  // in addition they are clipped to numbers that are not negative
};

template <Results Kind, int R, int NB, int N, int At>
HWY_INLINE void finishRows(const VI (&acc)[R][NB], const Finish& f, VF scale, VF offset, int8_t* dst) {
    const DF df;
#define MNNC_VALUE(r) hn::Add(hn::Mul(hn::Mul(hn::ConvertTo(df, acc[r][N]), scale), f.ratio), offset)
#if MNNC_STORES_FOURS
    // where fewer than four remain, the last one takes the missing places
    if constexpr (Kind != Results::Any && At < R) {
        constexpr int kLast = std::min(R, At + 4) - 1;
        constexpr int k1 = std::min(At + 1, kLast), k2 = std::min(At + 2, kLast);
        Rounded q[4];
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
        finishRows<Kind, R, NB, N, 0>(acc, f, hn::LoadU(df, f.scales + N * P), hn::LoadU(df, f.offsets + N * P),
                                      dst + N * f.block);
        finishBlocks<Kind, R, NB, N + 1>(acc, f, dst);
    }
}

// Finishes sums in memory, [count][blocks][P], with every form of results. All tiles share this function.
HWY_MAYBE_UNUSED HWY_NOINLINE void finishWritten(const Int8PanelArgs& args, const int32_t* sums, int count, int blocks,
                                                 int at) {
    const DF df;
    const Int8PanelArgs t = args;  // stores of bytes might change the arguments, as far as the compiler knows
    const VF ratio = hn::Set(df, t.ratio), lo = hn::Set(df, t.lo), hi = hn::Set(df, t.hi);
    for (int n = 0; n < blocks; ++n) {
        for (int r = 0; r < count; ++r) {
            const ptrdiff_t to = (at + r) * t.dstPixelStride + n * t.dstBlockStride;
            const VI sum = hn::Load(DI(), sums + (r * blocks + n) * P);
            if (t.sums) {
                hn::StoreU(sum, DI(), t.sums + to);
                continue;
            }
            VF v = hn::Mul(hn::Mul(hn::ConvertTo(df, sum), hn::LoadU(df, t.scale + n * P)), ratio);
            if (t.min) v = hn::Add(v, hn::Mul(hn::Set(df, t.pixelSums[at + r]), hn::LoadU(df, t.min + n * P)));
            v = hn::Add(v, hn::LoadU(df, t.offset + n * P));
            if (t.floats)
                hn::StoreU(clamp(v, lo, hi), df, t.floats + to);
            else
                store(v, lo, hi, t.dst + to);
        }
    }
}

// Finishes the sums of R pixels from pixel `at` on, of NB blocks. `t` may be a copy of `args` that a loop over tiles
// keeps in registers, so its address must not leave this function.
template <Product K, int R, int NB>
HWY_INLINE void finishTile(const VI (&acc)[R][NB], const Int8PanelArgs& t, const Int8PanelArgs& args, int at) {
    const DF df;
    // Copies, because the compiler must assume that stores of bytes change the arguments.
    const ptrdiff_t ps = t.dstPixelStride, bs = t.dstBlockStride;
    if (K == Product::WordSums || (K == Product::Pairs && t.sums)) {
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) hn::StoreU(acc[r][n], DI(), t.sums + (at + r) * ps + n * bs);
        }
        return;
    }
    if constexpr (K == Product::WordSums) return;  // there are no other results
    const float *scales = t.scale, *offsets = t.offset;
    const VF ratio = hn::Set(df, t.ratio), lo = hn::Set(df, t.lo), hi = hn::Set(df, t.hi);
#if MNNC_STORES_FOURS
    const bool special = ps != P || !t.bounded;
#else
    const bool special = false;
#endif
    if (HWY_UNLIKELY(special || t.min != nullptr || t.floats != nullptr || t.sums != nullptr)) {
        // The sums are stored first: if a loop variable indexed them, they would stay in memory all the time.
        HWY_ALIGN int32_t sums[R * NB * P];
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) hn::Store(acc[r][n], DI(), sums + (r * NB + n) * P);
        }
        finishWritten(args, sums, R, NB, at);
        return;
    }
    Finish f;
    f.ratio = ratio, f.lo = lo, f.hi = hi;
    f.pixel = ps, f.block = bs;
    f.scales = scales, f.offsets = offsets;
    int8_t* dst = t.dst + at * ps;
#if MNNC_STORES_FOURS
    f.lo8 = octets(t.lo);
    f.hi8 = octets(t.hi);
    if (K != Product::Pairs && t.lo >= 0) return finishBlocks<Results::Unsigned, R, NB, 0>(acc, f, dst);
    finishBlocks<Results::Dense, R, NB, 0>(acc, f, dst);
#else
    finishBlocks<Results::Any, R, NB, 0>(acc, f, dst);
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
