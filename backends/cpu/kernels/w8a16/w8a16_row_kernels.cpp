// Products of a single pixel, whose 16-bit numbers lie as bytes, with weights of 4 bits (AVX2).
#include "backends/cpu/kernels/w8a16/w8a16_kernels.h"

#include <algorithm>

#include "backends/cpu/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/w8a16/w8a16_row_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/gemm/panel_tile-inl.h"
#include "backends/cpu/kernels/w8a16/w8a16_products-inl.h"
#include "backends/cpu/kernels/w8a16/w8a16_tile-inl.h"
// clang-format on

#if HWY_TARGET == HWY_AVX2
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// A number q is 256 * high + low + kShift with signed bytes. The products take unsigned codes, which are kCode more
// than those of the weights. A sum begins with -kCode times the sum of all 256 * high + low, which cancels this excess.
// Unpacking codes to words, as the tiles of several pixels do, would not pay off for a single pixel.
constexpr int kShift = 128, kCode = 8;
constexpr int kGroupCodes = 2 * kGroup;
static_assert(kGroupCodes == P, "a group is a block of channels");
// The number of groups whose products fit a sum of 16 bits: 4 x 4 x 15 x 128 < 2^15.
constexpr int kWordGroups = 4;

// Writes the bytes of each group in the order in which codes lie: the low ones of channels 0 4 1 5, of 2 6 3 7, then
// the high ones.
void splitRow(const SplitRowArgs& t) {
    const __m128i order = _mm_setr_epi8(0, 8, 2, 10, 4, 12, 6, 14, 1, 9, 3, 11, 5, 13, 7, 15);
    const __m128i shift = _mm_setr_epi32(INT32_C(-0x7f7f7f80), INT32_C(-0x7f7f7f80), 0, 0);
    const __m128i ones = _mm_set1_epi16(1);
    for (int block = 0, at = 0; block < t.blocks; ++block) {
        __m128i sums = _mm_setzero_si128();
        for (const int end = at + t.blockLength; at < end; ++at) {
            auto* const p = reinterpret_cast<__m128i*>(t.row + ptrdiff_t{at} * P);
            const __m128i numbers = _mm_loadu_si128(p);
            sums = _mm_add_epi32(sums, _mm_madd_epi16(numbers, ones));
            _mm_storeu_si128(p, _mm_xor_si128(_mm_shuffle_epi8(numbers, order), shift));
        }
        sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, _MM_SHUFFLE(1, 0, 3, 2)));
        sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, _MM_SHUFFLE(2, 3, 0, 1)));
        t.start[block] = -kCode * (_mm_cvtsi128_si32(sums) - kShift * P * t.blockLength);
    }
}

HWY_INLINE __m256i broadcastBytes(const int8_t* p) {
    int32_t four;
    std::memcpy(&four, p, sizeof four);
    return _mm256_set1_epi32(four);
}

// Adds the products of unsigned codes and signed bytes to 16-bit sums. The compiler would compute several products
// before it adds them, and keep sums in memory meanwhile.
HWY_INLINE void addBytes(__m256i& acc, __m256i codes, __m256i x) {
    __m256i products;
    asm("vpmaddubsw %3, %2, %1\n\tvpaddw %1, %0, %0" : "+x"(acc), "=&x"(products) : "x"(codes), "x"(x));
}

// Adds the products of N groups.
template <int NB, int N>
HWY_INLINE void accumulateRow(VI (&acc)[NB], const int8_t* x, const int8_t* w) {
    const __m256i flip = _mm256_set1_epi8(INT8_C(-0x78)), half = _mm256_set1_epi8(0x0f);
    __m256i low[NB], high[NB];
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) low[n] = high[n] = _mm256_setzero_si256();
    HWY_UNROLL(4)
    for (int i = 0; i < N; ++i) {
        const int8_t* const q = x + i * 2 * kGroupCodes;
        const __m256i low0 = broadcastBytes(q), low1 = broadcastBytes(q + 4);
        const __m256i high0 = broadcastBytes(q + 8), high1 = broadcastBytes(q + 12);
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) {
            const int8_t* const from = w + (i * NB + n) * kGroupBytes<4>;
            const __m256i codes = _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)), flip);
            const __m256i first = _mm256_and_si256(codes, half);
            const __m256i second = _mm256_and_si256(_mm256_srli_epi16(codes, 4), half);
            addBytes(low[n], first, low0);
            addBytes(high[n], first, high0);
            addBytes(low[n], second, low1);
            addBytes(high[n], second, high1);
        }
    }
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) {
        acc[n].raw = _mm256_add_epi32(acc[n].raw, _mm256_madd_epi16(low[n], _mm256_set1_epi16(1)));
        acc[n].raw = _mm256_add_epi32(acc[n].raw, _mm256_madd_epi16(high[n], _mm256_set1_epi16(256)));
    }
}

template <int NB>
HWY_NOINLINE void rowTile(const W8A16PanelArgs& t) {
    const D d;
    const auto* x = reinterpret_cast<const int8_t*>(t.a);
    const int8_t* w = t.w;
    const float *scale = t.scale, *min = t.min;
    const int length = std::min(t.blockLength, t.fullBlocks + (t.tail > 0));
    V sums[NB];
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) sums[n] = hn::Zero(d);
    for (int block = 0; block < t.blocks; ++block) {
        VI acc[NB];
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) acc[n] = hn::Set(DI(), t.rowStart[block]);
        int rest = length;
        for (; rest >= kWordGroups; rest -= kWordGroups) {
            HWY_UNROLL(8)
            for (int line = 0; line < NB * kWordGroups * kGroupBytes<4>; line += 64)
                __builtin_prefetch(w + kAhead<4> + line, 0, 2);
            accumulateRow<NB, kWordGroups>(acc, x, w);
            x += kWordGroups * 2 * kGroupCodes;
            w += kWordGroups * NB * kGroupBytes<4>;
        }
        for (; rest > 0; --rest) {
            accumulateRow<NB, 1>(acc, x, w);
            x += 2 * kGroupCodes;
            w += NB * kGroupBytes<4>;
        }
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n)
            sums[n] = hn::MulAdd(hn::ConvertTo(d, acc[n]), hn::LoadU(d, scale + n * P), sums[n]);
        scale += NB * P;
        if (!t.blockSums) continue;
        const V all = hn::Set(d, t.blockSums[block] - lacking<kShift>(t));
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) sums[n] = hn::MulAdd(all, hn::LoadU(d, min + n * P), sums[n]);
        min += NB * P;
    }
    HWY_ALIGN float row[NB * P];
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) hn::Store(sums[n], d, row + n * P);
    finishRows<kShift, NB>(t, row, 1, nullptr, nullptr, 0, t.dst, t.residual);
}

void rowPanel(const W8A16PanelArgs& t) {
    static constexpr W8A16PanelFn kTiles[] = {&rowTile<1>, &rowTile<2>, &rowTile<3>};
    static_assert(sizeof kTiles / sizeof *kTiles == kMaxBlocks);
    kTiles[t.nb - 1](t);
}

}  // namespace

const W8A16RowKernels& w8a16RowTable() {
    static constexpr W8A16RowKernels table = {&splitRow, &rowPanel};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE && (HWY_TARGETS & HWY_AVX2)
namespace mnnc {
const W8A16RowKernels& w8a16Avx2RowKernels() {
    return N_AVX2::w8a16RowTable();
}
}  // namespace mnnc
#endif
