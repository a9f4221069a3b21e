#include "backends/cpu/kernels/int8_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "backends/cpu/cpu_features.h"
#include "backends/cpu/kernels/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/int8_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using DI = hn::ScalableTag<int32_t>;
using DB = hn::Rebind<int8_t, DI>;
using VF = hn::Vec<DF>;
using VI = hn::Vec<DI>;
constexpr int P = static_cast<int>(hn::MaxLanes(DF()));

// What a kernel's products are made with.
enum class Product { Vnni, Pairs };
template <Product K>
constexpr int kUnit = K == Product::Vnni ? 1 : 2;

// acc += the products of the four bytes (Vnni; x unsigned) or two 16-bit numbers (Pairs) in each lane.
// Highway has no target with VNNI; the instruction is written out, and used where the CPU has it.
template <Product K>
HWY_INLINE void dot(VI& acc, VI x, VI w) {
#if HWY_TARGET == HWY_AVX3
    if constexpr (K == Product::Vnni)
        asm("vpdpbusd %2, %1, %0" : "+v"(acc.raw) : "v"(x.raw), "v"(w.raw));
    else
        acc.raw = _mm512_add_epi32(acc.raw, _mm512_madd_epi16(x.raw, w.raw));
#elif HWY_TARGET == HWY_AVX2
    if constexpr (K == Product::Vnni)
        asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc.raw) : "x"(x.raw), "x"(w.raw));
    else
        acc.raw = _mm256_add_epi32(acc.raw, _mm256_madd_epi16(x.raw, w.raw));
#elif HWY_TARGET == HWY_SSE4
    acc.raw = _mm_add_epi32(acc.raw, _mm_madd_epi16(x.raw, w.raw));
#else
    const VI low =
        hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(x)), hn::ShiftRight<16>(hn::ShiftLeft<16>(w)));
    const VI high = hn::Mul(hn::ShiftRight<16>(x), hn::ShiftRight<16>(w));
    acc = hn::Add(acc, hn::Add(low, high));
#endif
}

// Of values that fit.
HWY_INLINE VI truncate(VF v) {
#if HWY_TARGET == HWY_AVX3
    return VI{_mm512_cvttps_epi32(v.raw)};
#elif HWY_TARGET == HWY_AVX2
    return VI{_mm256_cvttps_epi32(v.raw)};
#elif HWY_TARGET == HWY_SSE4
    return VI{_mm_cvttps_epi32(v.raw)};
#else
    return hn::ConvertTo(DI(), v);
#endif
}

// Halves away from zero.
HWY_INLINE VI round(VF v) {
    return truncate(hn::Add(v, hn::CopySignToAbs(hn::Set(DF(), 0.5f), v)));
}

// What is not a number becomes lo.
HWY_INLINE VF clamp(VF v, VF lo, VF hi) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
    return hn::Min(hn::Max(v, lo), hi);
#else
    return hn::Min(hn::IfThenElse(hn::Gt(v, lo), v, lo), hi);
#endif
}

HWY_INLINE void store(VF v, VF lo, VF hi, int8_t* to) {
    hn::StoreU(hn::DemoteTo(DB(), round(clamp(v, lo, hi))), DB(), to);
}

#if HWY_TARGET == HWY_AVX3
// Rounded where it fits an int32; too small a value or none at all becomes the smallest.
HWY_INLINE __m512i rounded(VF v) {
    return round(hn::Min(hn::Set(DF(), 1e9f), v))
        .raw;  // in this order: of two, the second when one is not a number
}

// Clipped to bytes; lane by lane of four numbers, those of a, b, c, d.
HWY_INLINE __m512i narrow(__m512i a, __m512i b, __m512i c, __m512i d, __m512i lo, __m512i hi) {
    const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
    return _mm512_min_epi8(_mm512_max_epi8(bytes, lo), hi);
}

// Four vectors, one after the other.
HWY_INLINE void storeFour(__m512i a, __m512i b, __m512i c, __m512i d, __m512i lo, __m512i hi, int8_t* to) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_storeu_si512(to, _mm512_permutexvar_epi32(order, narrow(a, b, c, d, lo, hi)));
}
#endif

HWY_INLINE VF loadFloats(const int8_t* from) {
    return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::LoadU(DB(), from)));
}

HWY_INLINE VI broadcast(const char* from) {
    int32_t step;
    std::memcpy(&step, from, 4);
    return hn::Set(DI(), step);
}

// ---- the tile: R pixels by NB blocks of output channels, all sums in registers ----

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

template <Product K, int R, int NB>
HWY_INLINE const char* steps(VI (&acc)[R][NB], const char* p, ptrdiff_t s, int count, const char* w) {
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

template <bool Dense, int R, int NB, int N, int At>
HWY_INLINE void finishRows(const VI (&acc)[R][NB], const Finish& f, VF scale, VF offset, int8_t* dst) {
    const DF df;
#define MNNC_VALUE(r) hn::Add(hn::Mul(hn::Mul(hn::ConvertTo(df, acc[r][N]), scale), f.ratio), offset)
#if HWY_TARGET == HWY_AVX3
    if constexpr (Dense && At + 4 <= R) {
        storeFour(rounded(MNNC_VALUE(At)), rounded(MNNC_VALUE(At + 1)), rounded(MNNC_VALUE(At + 2)),
                  rounded(MNNC_VALUE(At + 3)), f.lo8, f.hi8, dst + At * P);
        return finishRows<Dense, R, NB, N, At + 4>(acc, f, scale, offset, dst);
    }
#endif
    if constexpr (At < R) {
        store(MNNC_VALUE(At), f.lo, f.hi, dst + At * f.pixel);
        finishRows<Dense, R, NB, N, At + 1>(acc, f, scale, offset, dst);
    }
#undef MNNC_VALUE
}

template <bool Dense, int R, int NB, int N>
HWY_INLINE void finishBlocks(const VI (&acc)[R][NB], const Finish& f, int8_t* dst) {
    if constexpr (N < NB) {
        const DF df;
        finishRows<Dense, R, NB, N, 0>(acc, f, hn::LoadU(df, f.scales + N * P),
                                       hn::LoadU(df, f.offsets + N * P), dst + N * f.block);
        finishBlocks<Dense, R, NB, N + 1>(acc, f, dst);
    }
}

template <Product K, int R, int NB>
HWY_NOINLINE void tile(const Int8PanelArgs& t, int at) {
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
            w = steps<K, R, NB>(acc, p, t.pixelStride, t.fullSteps, w);
        if (t.tailSteps) w = steps<K, R, NB>(acc, p, t.pixelStride, t.tailSteps, w);
    }
    // Copies: stores of bytes might change the arguments, as far as the compiler knows.
    const ptrdiff_t ps = t.dstPixelStride, bs = t.dstBlockStride;
    const float *scales = t.scale, *offsets = t.offset;
    const VF ratio = hn::Set(df, t.ratio), lo = hn::Set(df, t.lo), hi = hn::Set(df, t.hi);
    if (HWY_UNLIKELY(t.min != nullptr || t.floats != nullptr)) {
        // Written out first: sums that a loop's variable indexes would be kept in memory all the time.
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
    if (HWY_LIKELY(ps == P)) {
        f.lo8 = _mm512_set1_epi8(static_cast<char>(t.lo));
        f.hi8 = _mm512_set1_epi8(static_cast<char>(t.hi));
        return finishBlocks<true, R, NB, 0>(acc, f, t.dst + at * ps);
    }
#endif
    finishBlocks<false, R, NB, 0>(acc, f, t.dst + at * ps);
}

using TileFn = void (*)(const Int8PanelArgs&, int);

template <Product K, int NB, int... R>
constexpr void fillTiles(TileFn* out, std::integer_sequence<int, R...>) {
    ((out[R] = &tile<K, R + 1, NB>), ...);
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

template <Product K>
void panel(const Int8PanelArgs& t) {
    static constexpr Tiles<K> kTiles;
    // Equal tiles: 49 pixels are five of 8 and one of 9, not five of 9 and one of 4.
    const int count = (t.m + kMaxRows[t.nb] - 1) / kMaxRows[t.nb];
    int at = 0;
    for (int i = 0; i < count; ++i) {
        const int end = static_cast<int>(static_cast<long>(t.m) * (i + 1) / count);
        kTiles.fn[t.nb - 1][end - at - 1](t, at);
        at = end;
    }
}

// ---- depthwise ----
// The rows of the kernel are taken in groups: the bytes (or 16-bit numbers) that one output column takes from
// a group of rows lie together in a lane. They are put together once per input column, in a buffer of the
// first level cache.

// Rows of one group; null where the kernel has no such row (its weight is zero).
template <Product K>
HWY_INLINE VI gatherRows(const int8_t* const* rows, ptrdiff_t at) {
    using DU = hn::Rebind<uint8_t, DI>;
    using DU32 = hn::ScalableTag<uint32_t>;
    constexpr int kShift = 8 * kUnit<K>;
    const DU32 du;
    const auto load = [&](int i) {
        return hn::PromoteTo(du, hn::LoadU(DU(), reinterpret_cast<const uint8_t*>(rows[i]) + at));
    };
    auto v = load(0);
    if (rows[1]) v = hn::Or(v, hn::ShiftLeft<kShift>(load(1)));
    if constexpr (K == Product::Vnni) {
        if (rows[2]) v = hn::Or(v, hn::ShiftLeft<16>(load(2)));
        if (rows[3]) v = hn::Or(v, hn::ShiftLeft<24>(load(3)));
    }
    return hn::BitCast(DI(), hn::Xor(v, hn::Set(du, K == Product::Vnni ? 0x80808080u : 0x00800080u)));
}

template <Product K, int C>
HWY_INLINE void depthwiseTile(const Int8DepthwiseArgs& t, int groups, const char* line, ptrdiff_t step,
                              ptrdiff_t dx, VI bias, VF scale, VF lo, VF hi, int8_t* dst) {
    VI acc[C];
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) acc[c] = bias;
    const char* w = t.w;
    for (int kx = 0; kx < t.shape->kw; ++kx, line += dx) {
        for (int g = 0; g < groups; ++g, w += P * 4) {
            const VI k = hn::LoadU(DI(), reinterpret_cast<const int32_t*>(w));
            const char* p = line + g * P * 4;
            HWY_UNROLL(8)
            for (int c = 0; c < C; ++c)
                dot<K>(acc[c], hn::LoadU(DI(), reinterpret_cast<const int32_t*>(p + c * step)), k);
        }
    }
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) store(hn::Mul(hn::ConvertTo(DF(), acc[c]), scale), lo, hi, dst + c * P);
}

template <Product K>
void depthwise(const Int8DepthwiseArgs& t) {
    constexpr int kRows = 4 / kUnit<K>;  // of a group
    const ConvShape& s = *t.shape;
    const int groups = (s.kh + kRows - 1) / kRows;
    const ptrdiff_t column = ptrdiff_t(groups) * P * 4;
    const int span = (s.kw - 1) * s.dilateW + 1;
    HWY_ALIGN char line[kInt8LineBytes];
    const int columns = static_cast<int>(kInt8LineBytes / column);
    const int chunk =
        std::min(s.ow, (columns - span) / s.strideW + 1);  // outputs at a time; the plan saw to >= 1
    const VI bias = hn::LoadU(DI(), t.bias);
    const VF scale = hn::LoadU(DF(), t.scale), lo = hn::Set(DF(), t.lo), hi = hn::Set(DF(), t.hi);
    const VI outside = hn::Set(DI(), (t.padding + 128) * (K == Product::Vnni ? 0x01010101 : 0x00010001));
    HWY_ALIGN int8_t border[P];
    std::memset(border, t.padding, sizeof border);
    for (int oy = t.rowBegin; oy < t.rowEnd; ++oy) {
        for (int x = 0; x < s.ow; x += chunk) {
            const int n = std::min(chunk, s.ow - x), ix = x * s.strideW - s.padLeft;
            const int width = (n - 1) * s.strideW + span;
            const int first = std::clamp(-ix, 0, width), last = std::clamp(s.iw - ix, first, width);
            for (int g = 0; g < groups; ++g) {
                const int8_t* rows[4] = {};
                bool outer[4] = {};
                bool any = false;
                for (int k = 0; k < kRows && g * kRows + k < s.kh; ++k) {
                    const int iy = oy * s.strideH - s.padTop + (g * kRows + k) * s.dilateH;
                    outer[k] = iy < 0 || iy >= s.ih;
                    any |= outer[k];
                    rows[k] = outer[k] ? border : t.src + (ptrdiff_t(iy) * s.iw + ix) * P;
                }
                char* to = line + g * P * 4;
                const auto put = [&](int i, VI v) {
                    hn::StoreU(v, DI(), reinterpret_cast<int32_t*>(to + i * column));
                };
                for (int i = 0; i < first; ++i) put(i, outside);
                if (!any) {
                    for (int i = first; i < last; ++i) put(i, gatherRows<K>(rows, ptrdiff_t(i) * P));
                } else {
                    for (int i = first; i < last; ++i) {
                        const int8_t* here[4];
                        for (int k = 0; k < 4; ++k)
                            here[k] = rows[k] && !outer[k] ? rows[k] + ptrdiff_t(i) * P : rows[k];
                        put(i, gatherRows<K>(here, 0));
                    }
                }
                for (int i = last; i < width; ++i) put(i, outside);
            }
            const ptrdiff_t step = s.strideW * column, dx = s.dilateW * column;
            int8_t* dst = t.dst + (ptrdiff_t(oy) * s.ow + x) * P;
            int i = 0;
            for (; i + 8 <= n; i += 8)
                depthwiseTile<K, 8>(t, groups, line + i * step, step, dx, bias, scale, lo, hi, dst + i * P);
            for (; i + 2 <= n; i += 2)
                depthwiseTile<K, 2>(t, groups, line + i * step, step, dx, bias, scale, lo, hi, dst + i * P);
            for (; i < n; ++i)
                depthwiseTile<K, 1>(t, groups, line + i * step, step, dx, bias, scale, lo, hi, dst + i * P);
        }
    }
}

#if HWY_TARGET == HWY_AVX3
// The same, four columns at a time: part i of the line buffer has channels 4i to 4i + 3 of all columns, 16
// bytes to a column (each channel's bytes of a group of rows), so that neighbouring columns are one vector
// whatever the tap, and the results of four columns come out of the packing instructions in order. Columns of
// one remainder by the stride lie together.

struct Line512 {
    char* base;
    ptrdiff_t part, phase;  // bytes
    char* at(int group, int i) const { return base + (group * 4 + i) * part; }
};

template <int C>  // columns by four
HWY_INLINE void depthwiseFours(const Line512& line, int groups, int kw, const ptrdiff_t* offsets,
                               const char* w, const int32_t* bias, const float* scale, __m512i lo, __m512i hi,
                               int8_t* dst, int count) {
    __m512i acc[C][4];
    HWY_UNROLL(4)
    for (int i = 0; i < 4; ++i) {
        const __m512i b =
            _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bias + 4 * i)));
        HWY_UNROLL(2)
        for (int c = 0; c < C; ++c) acc[c][i] = b;
    }
    for (int kx = 0; kx < kw; ++kx) {
        for (int g = 0; g < groups; ++g, w += 64) {
            const char* p = line.at(g, 0) + offsets[kx];
            HWY_UNROLL(4)
            for (int i = 0; i < 4; ++i) {
                const __m512i k =
                    _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w + 16 * i)));
                HWY_UNROLL(2)
                for (int c = 0; c < C; ++c) {
                    VI sum{acc[c][i]};
                    dot<Product::Vnni>(sum, VI{_mm512_loadu_si512(p + i * line.part + c * 64)}, VI{k});
                    acc[c][i] = sum.raw;
                }
            }
        }
    }
    HWY_UNROLL(2)
    for (int c = 0; c < C; ++c) {
        __m512i q[4];
        HWY_UNROLL(4)
        for (int i = 0; i < 4; ++i)
            q[i] = rounded(hn::Mul(hn::ConvertTo(DF(), VI{acc[c][i]}),
                                   VF{_mm512_broadcast_f32x4(_mm_loadu_ps(scale + 4 * i))}));
        const __m512i bytes = narrow(q[0], q[1], q[2], q[3], lo, hi);
        if (c * 4 + 4 <= count)
            _mm512_storeu_si512(dst + c * 64, bytes);
        else
            _mm512_mask_storeu_epi32(dst + c * 64, static_cast<__mmask16>((1u << (count - c * 4) * 4) - 1),
                                     bytes);
    }
}

// Columns [first, last) of a group of rows into the line.
HWY_INLINE void fillLine(const Line512& line, int group, const int8_t* const (&rows)[4],
                         const bool (&outer)[4], __m512i border, int first, int last, int stride) {
    const __m512i half = _mm512_set1_epi8(-128);
    for (int col = first; col < last; col += 4) {
        const int count = std::min(4, last - col);
        const auto mask = static_cast<__mmask16>((1u << count * 4) - 1);
        const auto load = [&](int k) HWY_ATTR {
            if (!rows[k]) return _mm512_setzero_si512();
            return _mm512_xor_si512(
                outer[k] ? border : _mm512_maskz_loadu_epi32(mask, rows[k] + ptrdiff_t(col) * 16), half);
        };
        const __m512i a = load(0), b = load(1), c = load(2), d = load(3);
        const __m512i ab0 = _mm512_unpacklo_epi8(a, b), ab1 = _mm512_unpackhi_epi8(a, b);
        const __m512i cd0 = _mm512_unpacklo_epi8(c, d), cd1 = _mm512_unpackhi_epi8(c, d);
        const __m512i parts[4] = {_mm512_unpacklo_epi16(ab0, cd0), _mm512_unpackhi_epi16(ab0, cd0),
                                  _mm512_unpacklo_epi16(ab1, cd1), _mm512_unpackhi_epi16(ab1, cd1)};
        if (stride == 1) {
            HWY_UNROLL(4)
            for (int i = 0; i < 4; ++i)
                _mm512_storeu_si512(line.at(group, i) + ptrdiff_t(col) * 16, parts[i]);
        } else if (stride == 2) {
            char* even = line.at(group, 0) + col % 2 * line.phase + col / 2 * 16;
            char* odd = line.at(group, 0) + (col + 1) % 2 * line.phase + (col + 1) / 2 * 16;
            HWY_UNROLL(4)
            for (int i = 0; i < 4; ++i) {
                const __m512i split = _mm512_shuffle_i64x2(parts[i], parts[i], 0xd8);
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(even + i * line.part),
                                    _mm512_castsi512_si256(split));
                _mm256_storeu_si256(reinterpret_cast<__m256i*>(odd + i * line.part),
                                    _mm512_extracti64x4_epi64(split, 1));
            }
        } else {
            for (int i = 0; i < 4; ++i) {
                HWY_ALIGN char columns[64];
                _mm512_store_si512(columns, parts[i]);
                for (int k = 0; k < count; ++k)
                    std::memcpy(line.at(group, i) + (col + k) % stride * line.phase + (col + k) / stride * 16,
                                columns + k * 16, 16);
            }
        }
    }
}

void depthwise512(const Int8DepthwiseArgs& t) {
    const ConvShape& s = *t.shape;
    const int groups = (s.kh + 3) / 4, span = (s.kw - 1) * s.dilateW + 1, stride = s.strideW;
    constexpr int kSlack = 4;  // columns that whole vectors reach beyond the last one
    const int room = kInt8LineBytes / 64 / groups / stride;  // columns of a phase
    const int chunk = std::min(s.ow, room - kSlack - (span + stride - 1) / stride + 1);
    if (chunk < 4 && chunk < s.ow) return depthwise<Product::Vnni>(t);
    HWY_ALIGN char buffer[kInt8LineBytes + 128];
    const Line512 line{buffer, ptrdiff_t(room) * stride * 16, ptrdiff_t(room) * 16};
    ptrdiff_t offsets[kInt8LineBytes / 64];
    for (int kx = 0; kx < s.kw; ++kx)
        offsets[kx] = kx * s.dilateW % stride * line.phase + kx * s.dilateW / stride * 16;
    const __m512i lo = _mm512_set1_epi8(static_cast<char>(t.lo)),
                  hi = _mm512_set1_epi8(static_cast<char>(t.hi));
    const __m512i border = _mm512_set1_epi8(static_cast<char>(t.padding));
    const __m128i outside = _mm_set1_epi8(static_cast<char>(t.padding + 128));
    for (int oy = t.rowBegin; oy < t.rowEnd; ++oy) {
        for (int x = 0; x < s.ow; x += chunk) {
            const int n = std::min(chunk, s.ow - x), ix = x * stride - s.padLeft;
            const int width = (n - 1) * stride + span;
            const int first = std::clamp(-ix, 0, width), last = std::clamp(s.iw - ix, first, width);
            for (int g = 0; g < groups; ++g) {
                const int8_t* rows[4] = {};
                bool outer[4] = {};
                for (int k = 0; k < 4 && g * 4 + k < s.kh; ++k) {
                    const int iy = oy * s.strideH - s.padTop + (g * 4 + k) * s.dilateH;
                    outer[k] = iy < 0 || iy >= s.ih;
                    rows[k] = outer[k] ? t.src : t.src + (ptrdiff_t(iy) * s.iw + ix) * 16;
                }
                fillLine(line, g, rows, outer, border, first, last, stride);
                const auto pad = [&](int from, int to) HWY_ATTR {
                    for (int col = from; col < to; ++col)
                        for (int i = 0; i < 4; ++i)
                            _mm_storeu_si128(
                                reinterpret_cast<__m128i*>(line.at(g, i) + col % stride * line.phase +
                                                           col / stride * 16),
                                outside);
                };
                pad(0, first);
                pad(last, width);
            }
            int8_t* dst = t.dst + (ptrdiff_t(oy) * s.ow + x) * 16;
            for (int i = 0; i < n; i += 8) {
                const Line512 here{line.base + i * 16, line.part, line.phase};
                if (n - i > 4)
                    depthwiseFours<2>(here, groups, s.kw, offsets, t.w, t.bias, t.scale, lo, hi, dst + i * 16,
                                      n - i);
                else
                    depthwiseFours<1>(here, groups, s.kw, offsets, t.w, t.bias, t.scale, lo, hi, dst + i * 16,
                                      n - i);
            }
        }
    }
}
#endif

// ---- element by element ----

template <Product K>
void widen(const int8_t* src, char* dst, size_t count) {
    if constexpr (K == Product::Vnni) {
        const hn::ScalableTag<uint8_t> d;
        const auto half = hn::Set(d, uint8_t{128});
        const auto* from = reinterpret_cast<const uint8_t*>(src);
        auto* to = reinterpret_cast<uint8_t*>(dst);
        size_t i = 0;
        for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
            hn::StoreU(hn::Xor(hn::LoadU(d, from + i), half), d, to + i);
        for (; i < count; ++i) to[i] = static_cast<uint8_t>(from[i] ^ 128);
    } else {
        auto* to = reinterpret_cast<int16_t*>(dst);
        const hn::ScalableTag<int16_t> d;
        const hn::Rebind<int8_t, decltype(d)> db;
        const auto half = hn::Set(d, int16_t{128});
        size_t i = 0;
        for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
            hn::StoreU(hn::Add(hn::PromoteTo(d, hn::LoadU(db, src + i)), half), d, to + i);
        for (; i < count; ++i) to[i] = static_cast<int16_t>(src[i] + 128);
    }
}

void quantize(const float* src, int8_t* dst, size_t blocks, const QuantizeArgs& t) {
    const DF d;
    const VF scale = hn::LoadU(d, t.scale), zero = hn::LoadU(d, t.zero), lo = hn::Set(d, t.lo),
             hi = hn::Set(d, t.hi);
    for (size_t i = 0; i < blocks; ++i)
        store(hn::Add(hn::Mul(hn::LoadU(d, src + i * P), scale), zero), lo, hi, dst + i * P);
}

void dequantize(const int8_t* src, float* dst, size_t blocks, const float* scale, const float* zero) {
    const DF d;
    const VF s = hn::LoadU(d, scale), z = hn::LoadU(d, zero);
    for (size_t i = 0; i < blocks; ++i)
        hn::StoreU(hn::Mul(hn::Sub(loadFloats(src + i * P), z), s), d, dst + i * P);
}

template <Int8Binary Op>
void binaryOf(const int8_t* a, const int8_t* b, int8_t* dst, size_t count, const Int8BinaryArgs& t) {
    const DF d;
    const VF za = hn::Set(d, t.zeroA), zb = hn::Set(d, t.zeroB), sa = hn::Set(d, t.scaleA),
             sb = hn::Set(d, t.scaleB);
    const VF inverse = hn::Set(d, t.inverse), lo = hn::Set(d, t.lo - t.zero), hi = hn::Set(d, t.hi - t.zero);
    const VI zero = hn::Set(DI(), static_cast<int32_t>(t.zero));
    const auto value = [&](const int8_t* pa, const int8_t* pb) HWY_ATTR {
        const VF x = hn::Mul(hn::Sub(loadFloats(pa), za), sa), y = hn::Mul(hn::Sub(loadFloats(pb), zb), sb);
        if constexpr (Op == Int8Binary::Add) return hn::Mul(hn::Add(x, y), inverse);
        if constexpr (Op == Int8Binary::Sub) return hn::Mul(hn::Sub(x, y), inverse);
        return hn::Mul(hn::Mul(x, y), inverse);
    };
    const auto one = [&](const int8_t* pa, const int8_t* pb, int8_t* to) HWY_ATTR {
        hn::StoreU(hn::DemoteTo(DB(), hn::Add(round(clamp(value(pa, pb), lo, hi)), zero)), DB(), to);
    };
    size_t i = 0;
#if HWY_TARGET == HWY_AVX3
    const __m512i lo8 = _mm512_set1_epi8(static_cast<char>(t.lo)),
                  hi8 = _mm512_set1_epi8(static_cast<char>(t.hi));
    const auto shifted = [&](size_t at)
                             HWY_ATTR { return _mm512_add_epi32(rounded(value(a + at, b + at)), zero.raw); };
    for (; i + 4 * P <= count; i += 4 * P)
        storeFour(shifted(i), shifted(i + P), shifted(i + 2 * P), shifted(i + 3 * P), lo8, hi8, dst + i);
#endif
    for (; i + P <= count; i += P) one(a + i, b + i, dst + i);
    if (i < count) {
        int8_t rest[3][P] = {};
        std::memcpy(rest[0], a + i, count - i);
        std::memcpy(rest[1], b + i, count - i);
        one(rest[0], rest[1], rest[2]);
        std::memcpy(dst + i, rest[2], count - i);
    }
}

void binary(const int8_t* a, const int8_t* b, int8_t* dst, size_t count, const Int8BinaryArgs& t) {
    switch (t.op) {
        case Int8Binary::Add:
            return binaryOf<Int8Binary::Add>(a, b, dst, count, t);
        case Int8Binary::Sub:
            return binaryOf<Int8Binary::Sub>(a, b, dst, count, t);
        case Int8Binary::Mul:
            return binaryOf<Int8Binary::Mul>(a, b, dst, count, t);
    }
}

void maximum(const int8_t* const* rows, int rowCount, const PoolSpan* spans, int outputs, int8_t* dst) {
    const DB d;
    for (int x = 0; x < outputs; ++x) {
        auto best = hn::Set(d, int8_t{-128});
        for (int y = 0; y < rowCount; ++y) {
            const int8_t* row = rows[y];
            for (int i = spans[x].first; i < spans[x].last; ++i)
                best = hn::Max(best, hn::LoadU(d, row + ptrdiff_t(i) * P));
        }
        hn::StoreU(best, d, dst + ptrdiff_t(x) * P);
    }
}

template <Product K>
constexpr Int8Kernels tableOf(const char* name) {
    return {
        P, kUnit<K>, kMaxBlocks, {0, kMaxRows[1], kMaxRows[2], kMaxRows[3], kMaxRows[4]}, &panel<K>,
#if HWY_TARGET == HWY_AVX3
            K == Product::Vnni ? &depthwise512 : &depthwise<K>,
#else
            &depthwise<K>,
#endif
            &widen<K>, &quantize, &dequantize, &binary, &maximum, name
    };
}

}  // namespace

const Int8Kernels& int8Table() {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
    constexpr const char* kPairsName = "madd";
#else
    constexpr const char* kPairsName = "portable";
#endif
    static constexpr Int8Kernels table = tableOf<Product::Pairs>(kPairsName);
    return table;
}

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
const Int8Kernels& int8VnniTable() {
    static constexpr Int8Kernels table = tableOf<Product::Vnni>("vnni");
    return table;
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const Int8Kernels& int8Kernels(Isa isa, bool vnni) {
    const CpuFeatures cpu = detectCpuFeatures();
#if HWY_TARGETS & HWY_AVX3
    if (isa == Isa::Avx512 && vnni && cpu.avx512Vnni) return N_AVX3::int8VnniTable();
#endif
#if HWY_TARGETS & HWY_AVX2
    if (isa == Isa::Avx2 && vnni && cpu.avxVnni) return N_AVX2::int8VnniTable();
#endif
    static_cast<void>(cpu);
    static_cast<void>(vnni);
    MNNC_SELECT(isa, int8Table)
}
}  // namespace mnnc
#endif
