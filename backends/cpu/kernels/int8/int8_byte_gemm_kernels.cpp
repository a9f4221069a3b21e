// Matrix products with AVX2 where the CPU lacks VNNI: of codes that are not negative, with signed bytes. Such codes
// have seven bits, so that the two products that vpmaddubsw adds fit its sums of 16 bits.
#include "backends/cpu/kernels/int8/int8_kernels.h"

#include <cstring>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/int8/int8_codes.h"
#include "backends/cpu/kernels/tiles.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/int8/int8_byte_gemm_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/int8/int8_tile-inl.h"
// clang-format on

#if HWY_TARGET == HWY_AVX2
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// The tile is R pixels by NB blocks of output channels, with all sums in registers. Nine sums are enough, because each
// waits only for an addition; the other registers hold two steps of a pixel and their products.
constexpr int kMaxBlocks = 3;
constexpr int kMaxRows[5] = {0, 8, 4, 3, 0};

HWY_INLINE __m256i broadcast(const char* step) {
    int32_t four;
    std::memcpy(&four, step, 4);
    return _mm256_set1_epi32(four);
}

// Returns the sums of two products each. Weights of wide tiles are operands in memory, because they do not fit
// registers beside the sums.
template <int NB>
HWY_INLINE __m256i multiplyBytes(__m256i x, const char* weights) {
    if constexpr (NB > 2) {
        __m256i sums;
        asm("vpmaddubsw %2, %1, %0" : "=x"(sums) : "x"(x), "m"(*reinterpret_cast<const __m256i*>(weights)));
        return sums;
    }
    return _mm256_maddubs_epi16(x, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights)));
}

HWY_INLINE __m256i addPairs(__m256i sums) {
    return _mm256_madd_epi16(sums, _mm256_set1_epi16(1));
}

// Adds the products of a block of eight channels, which is two steps. Together: the sums of both steps fit 16 bits.
template <bool Together, int R, int NB>
HWY_INLINE void addBlock(VI (&acc)[R][NB], const char* p, ptrdiff_t s, const char* w) {
    HWY_UNROLL(8)
    for (int r = 0; r < R; ++r) {
        const __m256i x0 = broadcast(p + r * s), x1 = broadcast(p + r * s + 4);
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) {
            const __m256i first = multiplyBytes<NB>(x0, w + n * P * 4),
                          second = multiplyBytes<NB>(x1, w + (NB + n) * P * 4);
            const __m256i sums = Together ? addPairs(_mm256_add_epi16(first, second))
                                          : _mm256_add_epi32(addPairs(first), addPairs(second));
            acc[r][n].raw = _mm256_add_epi32(acc[r][n].raw, sums);
        }
    }
}

template <int R, int NB>
HWY_INLINE void addStep(VI (&acc)[R][NB], const char* p, ptrdiff_t s, const char* w) {
    HWY_UNROLL(8)
    for (int r = 0; r < R; ++r) {
        const __m256i x = broadcast(p + r * s);
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n)
            acc[r][n].raw = _mm256_add_epi32(acc[r][n].raw, addPairs(multiplyBytes<NB>(x, w + n * P * 4)));
    }
}

// `together`: a flag for each block of each tap. `ahead`: weights of the next panel, of which each block prefetches a
// line.
template <int R, int NB>
HWY_INLINE void addTaps(VI (&acc)[R][NB], const Int8PanelArgs& t, const char* a, const char* together,
                        const char* ahead) {
    constexpr ptrdiff_t kLine = NB * P * 4;
    const char* w = t.w;
    const ptrdiff_t s = t.pixelStride, stride = t.blockStride;
    const int steps = t.fullBlocks * t.fullSteps + t.tailSteps, blocks = steps / 2;
    for (int tap = 0; tap < t.taps; ++tap) {
        const char* p = a + t.tapOffset[tap];
        for (int block = 0; block < blocks; ++block, p += stride, w += 2 * kLine, ahead += 2 * P * 4) {
            __builtin_prefetch(ahead, 0, 2);
            if (HWY_LIKELY(*together++))
                addBlock<true>(acc, p, s, w);
            else
                addBlock<false>(acc, p, s, w);
        }
        if (steps % 2 == 1) {
            addStep(acc, p, s, w);
            w += kLine;
        }
    }
}

// The numbers that lie behind the weights of a panel.
struct PanelEnd {
    const int32_t* sums;   // 128 times those of the weights
    const char* together;  // flags
};

template <int R, int NB>
HWY_NOINLINE void gemmTileBytes(const Int8PanelArgs& t, const PanelEnd& end, int at, const char* ahead) {
    VI acc[R][NB];
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) {
        const VI start = hn::LoadU(DI(), end.sums + n * P);
        HWY_UNROLL(8)
        for (int r = 0; r < R; ++r) acc[r][n] = start;
    }
    const char* a = t.a + at * t.pixelStride;
    addTaps(acc, t, a, end.together, ahead);
    finishTile<Product::Bytes, R, NB>(acc, t, t, at);
}

// Returns the sums of the first two and the last two bytes of both steps of each pair.
HWY_INLINE __m256i sumTogether(__m256i magnitudes) {
    const __m256i twos = _mm256_maddubs_epi16(magnitudes, _mm256_set1_epi8(1));
    return _mm256_add_epi16(twos, _mm256_shuffle_epi32(twos, 0xb1));
}

void clearUnfitBytes(const int8_t* rows, int steps, int count, char* flags) {
    constexpr int kPairs = 4;  // of steps in a vector
    const int pairs = steps / 2;
    const __m256i zero = _mm256_setzero_si256(), limit = _mm256_set1_epi16(kMaxTogether);
    for (int l = 0; l < count; ++l) {
        const int8_t* codes = rows + ptrdiff_t{l} * steps * 4;
        int i = 0;
        for (; i + kPairs <= pairs; i += kPairs) {
            const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes + ptrdiff_t{i} * 8));
            const __m256i negative = _mm256_and_si256(_mm256_abs_epi8(x), _mm256_cmpgt_epi8(zero, x));
            const __m256i unfit = _mm256_or_si256(_mm256_cmpgt_epi16(sumTogether(_mm256_max_epi8(x, zero)), limit),
                                                  _mm256_cmpgt_epi16(sumTogether(negative), limit));
            const int fit = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(unfit, zero)));
            for (int k = 0; k < kPairs && fit != 15; ++k)
                if (!(fit >> k & 1)) flags[i + k] = 0;
        }
        for (; i < pairs; ++i) flags[i] = static_cast<char>(flags[i] && fitTogether(codes + ptrdiff_t{i} * 8));
    }
}

void gemmPanelBytes(const Int8PanelArgs& t) {
    static constexpr auto kTiles = makeTiles<kMaxRows>([]<int R, int NB>() { return &gemmTileBytes<R, NB>; });
    const ptrdiff_t tapSteps = t.fullBlocks * t.fullSteps + t.tailSteps, steps = t.taps * tapSteps,
                    width = ptrdiff_t(t.nb) * P * 4, share = steps * P * 4;
    const char* sums = t.w + steps * width;
    const PanelEnd end{reinterpret_cast<const int32_t*>(sums), sums + width};
    // The panels are contiguous: each of the first tiles prefetches a part of the next panel.
    const char* next = end.together + (t.taps * (tapSteps / 2) + width - 1) / width * width;
    int tile = t.firstTile;
    forEqualTiles(t.m, kMaxRows[t.nb], [&](int at, int rows) {
        kTiles.fn[t.nb - 1][rows - 1](t, end, at, tile < t.nb ? next + tile * share : next);
        ++tile;
    });
}

}  // namespace

const Int8GemmKernels& int8GemmBytes() {
    static constexpr Int8GemmKernels kTable = {
        P, kMaxBlocks, {0, kMaxRows[1], kMaxRows[2], kMaxRows[3], kMaxRows[4]}, &gemmPanelBytes, &clearUnfitBytes};
    return kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace mnnc {
const Int8GemmKernels* int8ByteGemmKernels(Isa isa) {
#if HWY_TARGETS & HWY_AVX2
    if (isa == Isa::Avx2) return &N_AVX2::int8GemmBytes();
#endif
    static_cast<void>(isa);
    return nullptr;
}
}  // namespace mnnc
#endif
