// Depthwise convolutions of int8.
#include "backends/cpu/kernels/int8_kernels.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/int8_depthwise_kernels.cpp"
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
HWY_INLINE void depthwiseTileU8S8(const Int8DepthwiseArgs& t, int groups, const char* line, ptrdiff_t step,
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
void depthwiseU8S8(const Int8DepthwiseArgs& t) {
    constexpr int kRows = 4 / kUnit<K>;  // of a group
    const ConvShape& s = *t.shape;
    const int groups = (s.kh + kRows - 1) / kRows;
    const ptrdiff_t column = ptrdiff_t(groups) * P * 4;
    const int span = (s.kw - 1) * s.dilateW + 1;
    HWY_ALIGN char line[kInt8LineBytes];
    const int columns = static_cast<int>(kInt8LineBytes / column);
    const int chunk = std::min(s.ow, (columns - span) / s.strideW +
                                         1);  // outputs at a time; the plan has checked that it is at least 1
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
                depthwiseTileU8S8<K, 8>(t, groups, line + i * step, step, dx, bias, scale, lo, hi,
                                        dst + i * P);
            for (; i + 2 <= n; i += 2)
                depthwiseTileU8S8<K, 2>(t, groups, line + i * step, step, dx, bias, scale, lo, hi,
                                        dst + i * P);
            for (; i < n; ++i)
                depthwiseTileU8S8<K, 1>(t, groups, line + i * step, step, dx, bias, scale, lo, hi,
                                        dst + i * P);
        }
    }
}

#if HWY_TARGET == HWY_AVX3
// The same, four columns at a time: part i of the line buffer has channels 4i to 4i + 3 of all columns, 16
// bytes to a column (each channel's bytes of a group of rows), so that neighbouring columns are one vector
// for every tap, and the results of four columns come out of the packing instructions in order. Columns of
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
        storeFirst(bytes, count - c * 4, dst + c * 64);
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

void depthwiseU8S8Columns(const Int8DepthwiseArgs& t) {
    const ConvShape& s = *t.shape;
    const int groups = (s.kh + 3) / 4, span = (s.kw - 1) * s.dilateW + 1, stride = s.strideW;
    constexpr int kSlack = 4;  // columns that whole vectors reach beyond the last one
    const int room = kInt8LineBytes / 64 / groups / stride;  // columns of a phase
    const int chunk = std::min(s.ow, room - kSlack - (span + stride - 1) / stride + 1);
    if (chunk < 4 && chunk < s.ow) return depthwiseU8S8<Product::Vnni>(t);
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

}  // namespace

using DepthwiseFn = decltype(Int8Kernels::depthwise);

DepthwiseFn int8DepthwisePairs() {
    return &depthwiseU8S8<Product::Pairs>;
}
#if HWY_TARGET == HWY_AVX3
DepthwiseFn int8DepthwiseVnni() {
    return &depthwiseU8S8Columns;
}
#elif HWY_TARGET == HWY_AVX2
DepthwiseFn int8DepthwiseVnni() {
    return &depthwiseU8S8<Product::Vnni>;
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
decltype(Int8Kernels::depthwise) int8DepthwiseKernel(Isa isa, Int8Product product) {
#if HWY_TARGETS & HWY_AVX3
    if (isa == Isa::Avx512 && product == Int8Product::Vnni) return N_AVX3::int8DepthwiseVnni();
#endif
#if HWY_TARGETS & HWY_AVX2
    if (isa == Isa::Avx2 && product == Int8Product::Vnni) return N_AVX2::int8DepthwiseVnni();
#endif
    static_cast<void>(product);
    MNNC_SELECT(isa, int8DepthwisePairs)
}
}  // namespace mnnc
#endif
