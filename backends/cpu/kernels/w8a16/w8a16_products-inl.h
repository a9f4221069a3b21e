// Products of 16-bit activations with codes of 8 or 4 bits in the registers of a tile. It is included once per
// instruction set, hence the toggling guard.
#if defined(MNNC_W8A16_PRODUCTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNNC_W8A16_PRODUCTS_INL_H
#undef MNNC_W8A16_PRODUCTS_INL_H
#else
#define MNNC_W8A16_PRODUCTS_INL_H
#endif

#include <cstring>

#include "backends/cpu/kernels/gemm/panel_tile-inl.h"

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

using DI = hn::RebindToSigned<D>;
using VI = hn::Vec<DI>;
using DW = hn::Repartition<int16_t, DI>;  // words: pairs of 16-bit numbers
using VW = hn::Vec<DW>;

constexpr int kPairs = P / 2;
constexpr int kGroup = 4;  // pairs of channels that are unpacked together
// Returns the bytes of a group of pairs of a panel of nb blocks.
template <int Bits>
constexpr int kGroupBytes = kGroup * 2 * P* Bits / 8;

// The distance in bytes at which weights are prefetched, as measured: a product of one row waits only for weights.
template <int Bits>
constexpr int kAhead = Bits == 8 ? 4096 : 8192;

// Adds to acc the products of both 16-bit numbers in each lane. Highway has no target with VNNI. With AVX2 the compiler
// would compute several products before it adds them, and keep sums in memory meanwhile.
HWY_INLINE void dot(VI& acc, VW x, VW w) {
#if HWY_TARGET == HWY_AVX3
    asm("vpdpwssd %2, %1, %0" : "+v"(acc.raw) : "v"(x.raw), "v"(w.raw));
#else
    __m256i products;
    asm("vpmaddwd %3, %2, %1\n\tvpaddd %1, %0, %0" : "+x"(acc.raw), "=&x"(products) : "x"(x.raw), "x"(w.raw));
#endif
}

HWY_INLINE VW broadcastPair(const int16_t* p) {
    int32_t both;
    std::memcpy(&both, p, sizeof both);
    return hn::BitCast(DW(), hn::Set(DI(), both));
}

// Returns pair L of a group of four, whose 16-bit words hold a channel's code for each of the pairs, the first in the
// lowest bits.
template <int L>
HWY_INLINE VW pairOf(VW words) {
    if constexpr (L < 3) words = hn::ShiftLeft<12 - 4 * L>(words);
    return hn::ShiftRight<12>(words);
}

template <int R, int NB>
HWY_INLINE void multiply(VI (&acc)[R][NB], const int16_t* const (&q)[(R + 2) / 3], ptrdiff_t s, int pair,
                         const VW (&b)[NB]) {
    HWY_UNROLL(32)
    for (int r = 0; r < R; ++r) {
        const VW x = broadcastPair(q[r / 3] + (r % 3) * s + 2 * pair);
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) dot(acc[r][n], x, b[n]);
    }
}

// Adds L pairs of channels of 8 bits.
template <int R, int NB, int L>
HWY_INLINE void accumulate8(VI (&acc)[R][NB], const int16_t* const (&q)[(R + 2) / 3], ptrdiff_t s, const int8_t* w) {
    HWY_UNROLL(4)
    for (int l = 0; l < L; ++l) {
        VW b[NB];
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n)
            b[n] = hn::PromoteTo(DW(), hn::LoadU(hn::Rebind<int8_t, DW>(), w + (l * NB + n) * 2 * P));
        multiply<R, NB>(acc, q, s, l, b);
    }
}

template <int R, int NB, int L>
HWY_INLINE void multiplyPair(VI (&acc)[R][NB], const int16_t* const (&q)[(R + 2) / 3], ptrdiff_t s,
                             const VW (&words)[NB]) {
    VW b[NB];
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) b[n] = pairOf<L>(words[n]);
    multiply<R, NB>(acc, q, s, L, b);
}

// Adds a group of pairs of 4 bits.
template <int R, int NB>
HWY_INLINE void accumulate4(VI (&acc)[R][NB], const int16_t* const (&q)[(R + 2) / 3], ptrdiff_t s, const int8_t* w) {
    VW words[NB];
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) words[n] = hn::LoadU(DW(), reinterpret_cast<const int16_t*>(w + n * 4 * P));
    multiplyPair<R, NB, 0>(acc, q, s, words);
    multiplyPair<R, NB, 1>(acc, q, s, words);
    multiplyPair<R, NB, 2>(acc, q, s, words);
    multiplyPair<R, NB, 3>(acc, q, s, words);
}

// Adds `groups` groups of pairs from q on.
template <int Bits, int R, int NB>
HWY_INLINE void accumulateGroups(VI (&acc)[R][NB], const int16_t* p, ptrdiff_t s, int groups, const int8_t*& w) {
    constexpr int G = (R + 2) / 3;
    const int16_t* q[G];
    rowPointers<R>(q, p, s);
    for (int i = 0; i < groups; ++i) {
        HWY_UNROLL(8)
        for (int line = 0; line < NB * kGroupBytes<Bits>; line += 64) __builtin_prefetch(w + kAhead<Bits> + line, 0, 2);
        if constexpr (Bits == 8)
            accumulate8<R, NB, kGroup>(acc, q, s, w);
        else
            accumulate4<R, NB>(acc, q, s, w);
        w += NB * kGroupBytes<Bits>;
        HWY_UNROLL(16)
        for (int g = 0; g < G; ++g) q[g] += 2 * kGroup;
    }
}

// Adds the last channels of a tap: pair by pair, or a group with codes of 0 behind the last one.
template <int Bits, int R, int NB>
HWY_INLINE void accumulateTail(VI (&acc)[R][NB], const int16_t* p, ptrdiff_t s, int channels, const int8_t*& w) {
    if constexpr (Bits == 4) {
        accumulateGroups<4, R, NB>(acc, p, s, (channels + 2 * kGroup - 1) / (2 * kGroup), w);
    } else {
        constexpr int G = (R + 2) / 3;
        const int16_t* q[G];
        rowPointers<R>(q, p, s);
        for (int l = 0; l < channels; l += 2) {
            accumulate8<R, NB, 1>(acc, q, s, w);
            w += NB * 2 * P;
            HWY_UNROLL(16)
            for (int g = 0; g < G; ++g) q[g] += 2;
        }
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
#endif
