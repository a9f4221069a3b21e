// Products of 16-bit activations with weights of 8 or 4 bits by the matrix unit of the CPU (AMX). An activation is two
// bytes, each of which is multiplied with the codes; their sums are those of the panel kernels, and so are all
// roundings of floats.
#include "backends/cpu/kernels/w8a16/w8a16_matrix.h"

#include <cstring>

#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/processor/cpu_features.h"
#include "base/os/threads.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/w8a16/w8a16_matrix_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/gemm/panel_tile-inl.h"
#include "backends/cpu/kernels/w8a16/w8a16_tile-inl.h"
// clang-format on

// Highway has no target with these instructions, so they are enabled for the 512-bit target.
#if HWY_TARGET == HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",amx-tile,amx-int8")
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

constexpr int kRowBytes = 64;
constexpr ptrdiff_t kTileBytes = kMatrixRows * kRowBytes;
struct Tile {
    uint8_t bytes[kTileBytes];
};
struct alignas(64) SumTile {
    int32_t sums[kMatrixRows][P];
};

// The tiles: 0 to 3 have the sums of the upper and of the lower bytes with each of two blocks of outputs, 4 and 5 the
// codes of these blocks, 6 and 7 the upper and the lower bytes.
template <int T>
HWY_INLINE void loadTile(const uint8_t* from) {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
                 :
                 : "r"(from), "r"(ptrdiff_t{kRowBytes}), "i"(T), "m"(*reinterpret_cast<const Tile*>(from)));
}
template <int T>
HWY_INLINE void writeTile(SumTile& to) {
    asm volatile("tilestored %%tmm%c3, (%1,%2,1)" : "=m"(to) : "r"(&to), "r"(ptrdiff_t{kRowBytes}), "i"(T));
}
template <int T>
HWY_INLINE void zeroTile() {
    asm volatile("tilezero %%tmm%c0" : : "i"(T));
}
template <int Sums, int Codes>
HWY_INLINE void multiplyUpper() {
    asm volatile("tdpbssd %%tmm%c1, %%tmm6, %%tmm%c0" : : "i"(Sums), "i"(Codes));
}
template <int Sums, int Codes>
HWY_INLINE void multiplyLower() {
    asm volatile("tdpbusd %%tmm%c1, %%tmm7, %%tmm%c0" : : "i"(Sums), "i"(Codes));
}

// Gives the tiles their extents for steps of `width` blocks of channels. The unit is idle again after this scope.
class Tiles {
  public:
    explicit Tiles(int width) {
        struct alignas(64) {
            uint8_t palette, start, reserved[14];
            uint16_t rowBytes[16];
            uint8_t rows[16];
        } form = {};
        static_assert(sizeof form == 64);
        form.palette = 1;
        for (int i = 0; i < 8; ++i) {
            const bool codes = i == 4 || i == 5, input = i > 5;
            form.rows[i] = static_cast<uint8_t>(codes ? width * P / 4 : kMatrixRows);
            form.rowBytes[i] = static_cast<uint16_t>(input ? width * P : kRowBytes);
        }
        asm volatile("ldtilecfg %0" : : "m"(form));
    }
    ~Tiles() { asm volatile("tilerelease"); }
    Tiles(const Tiles&) = delete;
    Tiles& operator=(const Tiles&) = delete;
};

// The places of eight channels among the bytes of a tile. Codes of 4 bits are unpacked in this order.
template <int Bits>
HWY_INLINE __m512i shuffleBytes() {
    const char* const order = Bits == 4 ? "\0\4\1\5\2\6\3\7" : "\0\1\2\3\4\5\6\7";
    alignas(16) int8_t bytes[16];
    for (int i = 0; i < 8; ++i) {
        bytes[i] = static_cast<int8_t>(2 * order[i]);
        bytes[8 + i] = static_cast<int8_t>(2 * order[i] + 1);
    }
    return _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(bytes)));
}

// Returns the 16-bit numbers of two blocks of channels of a pixel; zeros where there are fewer.
HWY_INLINE __m512i twoBlocks(const int16_t* from, ptrdiff_t stride, int blocks) {
    if (blocks <= 0) return _mm512_setzero_si512();
    const __m512i first = _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    const __m256i second =
        blocks == 1 ? _mm256_setzero_si256() : _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + stride));
    return _mm512_inserti64x4(first, second, 1);
}

template <int Bits>
void packInput(const MatrixInput& t, uint8_t* to) {
    const __m512i shuffle = shuffleBytes<Bits>();
    const __m512i lower = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0),
                  upper = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    for (int first = 0; first < t.pixels; first += kMatrixRows)
        for (int i = 0; i < t.steps.count; ++i, to += 2 * kTileBytes) {
            const MatrixStep& step = t.steps.list[i];
            const int16_t* from = t.data + step.block * t.blockStride + ptrdiff_t{first} * P;
            for (int r = 0; r < kMatrixRows; ++r, from += P) {
                const int blocks = first + r < t.pixels ? step.blocks : 0;
                const __m512i a = _mm512_shuffle_epi8(twoBlocks(from, t.blockStride, blocks), shuffle);
                const __m512i b =
                    _mm512_shuffle_epi8(twoBlocks(from + 2 * t.blockStride, t.blockStride, blocks - 2), shuffle);
                _mm512_storeu_si512(to + r * kRowBytes, _mm512_permutex2var_epi64(a, upper, b));
                _mm512_storeu_si512(to + kTileBytes + r * kRowBytes, _mm512_permutex2var_epi64(a, lower, b));
            }
        }
}

// Codes behind the last block of a step are multiplied with zeros.
void packCodes4(const MatrixCodes& t, uint8_t* to) {
    const __m512i low = _mm512_set1_epi8(15);
    const __m512i value = _mm512_broadcast_i32x4(_mm_set_epi8(-1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0));
    const int groups = (t.channels + 7) / 8;
    for (int n = 0; n < t.nb; ++n)
        for (int i = 0; i < t.steps.count; ++i, to += kTileBytes) {
            const MatrixStep& step = t.steps.list[i];
            for (int g = 0; g < 2 * t.steps.width; ++g) {
                const int group = 2 * step.block + g;
                __m512i even = _mm512_setzero_si512(), odd = even;
                if (group < groups) {
                    const __m512i codes = _mm512_loadu_si512(t.codes + (ptrdiff_t{group} * t.nb + n) * 4 * P);
                    even = _mm512_shuffle_epi8(value, _mm512_and_si512(codes, low));
                    odd = _mm512_shuffle_epi8(value, _mm512_and_si512(_mm512_srli_epi16(codes, 4), low));
                }
                _mm512_storeu_si512(to + ptrdiff_t{2} * g * kRowBytes, even);
                _mm512_storeu_si512(to + (ptrdiff_t{2} * g + 1) * kRowBytes, odd);
            }
        }
}

void packCodes8(const MatrixCodes& t, uint8_t* to) {
    const int pairs = (t.channels + 1) / 2;
    const auto load = [&](int pair, int n) HWY_ATTR {
        if (pair >= pairs) return _mm512_setzero_si512();
        const int8_t* from = t.codes + (ptrdiff_t{pair} * t.nb + n) * 2 * P;
        return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    };
    for (int n = 0; n < t.nb; ++n)
        for (int i = 0; i < t.steps.count; ++i, to += kTileBytes) {
            const MatrixStep& step = t.steps.list[i];
            for (int g = 0; g < 4 * t.steps.width; ++g) {
                const int pair = 8 * step.block + 2 * g;
                const __m512i four = _mm512_or_si512(load(pair, n), _mm512_slli_epi32(load(pair + 1, n), 16));
                _mm512_storeu_si512(to + ptrdiff_t{g} * kRowBytes, four);
            }
        }
}

// Multiplies one step with NB blocks of outputs, whose codes are `codes` bytes apart.
template <int NB>
HWY_INLINE void multiplyStep(const uint8_t* a, const uint8_t* b, ptrdiff_t codes) {
    loadTile<4>(b);
    loadTile<6>(a);
    multiplyUpper<0, 4>();
    loadTile<7>(a + kTileBytes);
    multiplyLower<1, 4>();
    if constexpr (NB == 2) {
        loadTile<5>(b + codes);
        multiplyUpper<2, 5>();
        multiplyLower<3, 5>();
    }
}

// The sums of one step or several with NB blocks of outputs, and the scales and minima that they need.
template <int NB>
struct StepSums {
    SumTile upper[NB], lower[NB];
    const float* scale = nullptr;
    const float *min = nullptr, *blockSums = nullptr;  // where the next step has other weights with minima
};

template <int NB>
HWY_INLINE void writeTiles(StepSums<NB>& to) {
    writeTile<0>(to.upper[0]);
    writeTile<1>(to.lower[0]);
    if constexpr (NB == 2) {
        writeTile<2>(to.upper[1]);
        writeTile<3>(to.lower[1]);
    }
}

// Adds sums to floats, or sets the floats where there are none yet (`adds` is false). The roundings are those of the
// panel kernels.
template <int NB, bool Last>
HWY_INLINE void scaleSums(const StepSums<NB>& step, int rows, ptrdiff_t blocks, bool adds, float* sums) {
    HWY_UNROLL(2)
    for (int n = 0; n < NB; ++n) {
        const __m512 factor = _mm512_loadu_ps(step.scale + n * P);
        const __m512 min = step.blockSums ? _mm512_loadu_ps(step.min + n * P) : _mm512_setzero_ps();
        for (int r = 0; r < rows; ++r) {
            float* const to = sums + (r * NB + n) * P;
            const __m512 x =
                _mm512_cvtepi32_ps(_mm512_add_epi32(_mm512_slli_epi32(_mm512_load_si512(step.upper[n].sums[r]), 8),
                                                    _mm512_load_si512(step.lower[n].sums[r])));
            if constexpr (Last) {
                const __m512 product = _mm512_mul_ps(x, factor);
                _mm512_store_ps(to, adds ? _mm512_add_ps(product, _mm512_load_ps(to)) : product);
            } else {
                __m512 sum = _mm512_fmadd_ps(x, factor, adds ? _mm512_load_ps(to) : _mm512_setzero_ps());
                if (step.blockSums) sum = _mm512_fmadd_ps(_mm512_set1_ps(step.blockSums[r * blocks]), min, sum);
                _mm512_store_ps(to, sum);
            }
        }
    }
}

// Computes up to 16 pixels from `pixel` on by the NB blocks of outputs of t, whose scales and minima of different
// blocks of weights are `outputs` apart. The sums of a step are scaled while the matrix unit computes the next one.
template <int NB>
HWY_NOINLINE void tileProducts(const W8A16PanelArgs& t, int outputs, const MatrixSteps& steps, const uint8_t* a,
                               const uint8_t* b, int pixel, int rows) {
    StepSums<NB> sumsOf[2];
    HWY_ALIGN float sums[kMatrixRows * NB * P];
    const float *scale = t.scale, *min = t.min;
    const float* blockSums = t.blockSums ? t.blockSums + ptrdiff_t{pixel} * t.blocks : nullptr;
    bool begins = true;
    int done = 0;
    for (int i = 0; i < steps.count; ++i, a += 2 * kTileBytes, b += kTileBytes) {
        const MatrixStep& step = steps.list[i];
        if (begins) {
            zeroTile<0>();
            zeroTile<1>();
            if constexpr (NB == 2) {
                zeroTile<2>();
                zeroTile<3>();
            }
        }
        multiplyStep<NB>(a, b, steps.count * kTileBytes);
        begins = step.ends;
        if (!step.ends) continue;
        StepSums<NB>& own = sumsOf[done % 2];
        writeTiles(own);
        if (done > 0) scaleSums<NB, false>(sumsOf[(done + 1) % 2], rows, t.blocks, done > 1, sums);
        ++done;
        const bool other = step.endsBlock && i + 1 < steps.count;
        own.scale = scale;
        own.min = other ? min : nullptr;
        own.blockSums = other ? blockSums : nullptr;
        if (!other) continue;
        scale += outputs;
        if (blockSums) {
            min += outputs;
            ++blockSums;
        }
    }
    scaleSums<NB, true>(sumsOf[(done + 1) % 2], rows, t.blocks, done > 1, sums);
    const ptrdiff_t to = pixel * t.dstPixelStride;
    finishRows<0, NB>(t, sums, rows, min, blockSums, pixel, t.dst + to, t.residual ? t.residual + to : nullptr);
}

void matrixPanel(const W8A16PanelArgs& panel, const MatrixSteps& steps, const uint8_t* a, const uint8_t* b) {
    const Tiles tiles(steps.width);
    for (int n = 0; n < panel.nb; n += 2) {
        W8A16PanelArgs t = panel;
        t.nb = std::min(2, panel.nb - n);
        t.bias += n * P;
        t.scale += n * P;
        t.codeSum += n * P;
        t.min += n * P;
        t.dst += n * t.dstBlockStride;
        if (t.residual) t.residual += n * t.dstBlockStride;
        for (int at = 0; at < t.m; at += kMatrixRows) {
            const uint8_t* const rows = a + ptrdiff_t{at / kMatrixRows} * steps.count * 2 * kTileBytes;
            const uint8_t* const codes = b + ptrdiff_t{n} * steps.count * kTileBytes;
            const int count = std::min(kMatrixRows, t.m - at);
            if (t.nb == 2)
                tileProducts<2>(t, panel.nb * P, steps, rows, codes, at, count);
            else
                tileProducts<1>(t, panel.nb * P, steps, rows, codes, at, count);
        }
    }
}

}  // namespace

const W8A16MatrixKernels& w8a16MatrixTable() {
    static constexpr W8A16MatrixKernels table = {&packInput<8>, &packInput<4>, &packCodes8, &packCodes4, &matrixPanel};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_POP_ATTRIBUTES
#endif

#if HWY_ONCE
namespace mnnc {
const W8A16MatrixKernels* w8a16MatrixKernels() {
#if HWY_TARGETS & HWY_AVX3
    static const bool allowed = detectCpuFeatures().amxInt8 && os::allowMatrixUnit();
    if (allowed) return &N_AVX3::w8a16MatrixTable();
#endif
    return nullptr;
}
}  // namespace mnnc
#endif
