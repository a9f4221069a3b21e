// Depthwise convolutions of int8 with AVX512-VNNI, four columns of the map in a vector. It is included once per
// instruction set, hence the toggling guard.
#if defined(MNNC_INT8_DEPTHWISE_COLUMNS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNNC_INT8_DEPTHWISE_COLUMNS_INL_H
#undef MNNC_INT8_DEPTHWISE_COLUMNS_INL_H
#else
#define MNNC_INT8_DEPTHWISE_COLUMNS_INL_H
#endif

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/int8/int8_depthwise_lines-inl.h"
#include "backends/cpu/kernels/int8/int8_math-inl.h"

#if HWY_TARGET == HWY_AVX3
HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// Where the kernel does not fill a group of rows of a line, the group also holds rows of the next output rows: with
// three rows of weights in four, a line serves two output rows. For the second one the weights are moved by one byte.

constexpr int kMaxLineRows = 4;          // output rows of a line
constexpr int kMovedWeights = 64 * 128;  // bytes of the weights of all output rows of a line

// The steps after the sums.
struct DepthwiseFinish {
    __m512i lo, hi;
    const int32_t* bias;
    const float* scale;
    bool unsignedResult;  // lo is not negative
};

template <bool Unsigned>
HWY_INLINE __m512i scaled(__m512i sum, __m512 scale) {
    return boundedRound<Unsigned>(hn::Mul(hn::ConvertTo(DF(), VI{sum}), VF{scale}));
}

// Computes C vectors of columns of R output rows.
template <int C, int R, bool Unsigned>
HWY_INLINE void depthwiseFours(const Line512& line, int groups, int kw, const ptrdiff_t* offsets, const char* (&w)[R],
                               const DepthwiseFinish& f, int8_t* (&dst)[R], int count) {
    __m512i acc[R][C][4];
    HWY_UNROLL(4)
    for (int i = 0; i < 4; ++i) {
        const __m512i b = _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(f.bias + 4 * i)));
        HWY_UNROLL(4)
        for (int n = 0; n < R * C; ++n) acc[n / C][n % C][i] = b;
    }
    ptrdiff_t at = 0;
    for (int kx = 0; kx < kw; ++kx) {
        for (int g = 0; g < groups; ++g, at += 64) {
            const char* p = line.at(g, 0) + offsets[kx];
            HWY_UNROLL(4)
            for (int i = 0; i < 4; ++i) {
                __m512i x[C];
                HWY_UNROLL(2)
                for (int c = 0; c < C; ++c) x[c] = _mm512_loadu_si512(p + i * line.part + c * 64);
                HWY_UNROLL(2)
                for (int r = 0; r < R; ++r) {
                    const __m512i k =
                        _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(w[r] + at + 16 * i)));
                    HWY_UNROLL(2)
                    for (int c = 0; c < C; ++c) {
                        VI sum{acc[r][c][i]};
                        dot<Product::Vnni>(sum, VI{x[c]}, VI{k});
                        acc[r][c][i] = sum.raw;
                    }
                }
            }
        }
    }
    HWY_UNROLL(4)
    for (int n = 0; n < R * C; ++n) {
        __m512i q[4];
        HWY_UNROLL(4)
        for (int i = 0; i < 4; ++i)
            q[i] = scaled<Unsigned>(acc[n / C][n % C][i], _mm512_broadcast_f32x4(_mm_loadu_ps(f.scale + 4 * i)));
        const __m512i bytes = narrow(q[0], q[1], q[2], q[3], f.lo, f.hi);
        storeFirst(bytes, count - n % C * kVectorColumns, dst[n / C] + n % C * 64);
    }
}

// Computes `count` columns of R output rows.
template <int R, bool Unsigned>
HWY_INLINE void depthwiseRows(Line512 line, int groups, int kw, const ptrdiff_t* offsets, const char* (&w)[R],
                              const DepthwiseFinish& f, int8_t* (&dst)[R], int count) {
    for (int i = 0; i < count; i += 2 * kVectorColumns) {
        if (count - i > kVectorColumns)
            depthwiseFours<2, R, Unsigned>(line, groups, kw, offsets, w, f, dst, count - i);
        else
            depthwiseFours<1, R, Unsigned>(line, groups, kw, offsets, w, f, dst, count - i);
        line.base += 2 * 64;
        HWY_UNROLL(2)
        for (int r = 0; r < R; ++r) dst[r] += 2 * 64;
    }
}

// Copies the weights for each output row of a line, each moved by a row's stride of bytes against the one before.
inline void moveWeights(const Int8DepthwiseArgs& t, int groups, int rows, char* to) {
    const size_t bytes = size_t(t.shape->kw) * groups * 64;
    std::memcpy(to, t.w, bytes);
    for (int r = 1; r < rows; ++r) {
        const int bits = 8 * r * t.shape->strideH;
        for (int kx = 0; kx < t.shape->kw; ++kx) {
            __m512i before = _mm512_setzero_si512();
            for (int g = 0; g < groups; ++g) {
                const size_t at = (size_t(kx) * groups + g) * 64;
                const __m512i here = _mm512_loadu_si512(t.w + at);
                const __m512i moved = _mm512_or_si512(_mm512_sll_epi32(here, _mm_cvtsi32_si128(bits)),
                                                      _mm512_srl_epi32(before, _mm_cvtsi32_si128(32 - bits)));
                _mm512_storeu_si512(to + r * bytes + at, moved);
                before = here;
            }
        }
    }
}

struct DepthwiseColumns {
    const Int8DepthwiseArgs& t;
    const ConvShape& s;
    int groups, span;
    int lineRows;      // output rows of a line
    const char* w;     // of the first output row
    ptrdiff_t wBytes;  // distance to the weights of the next output row
    const ptrdiff_t* offsets;
    DepthwiseFinish finish;
    __m512i border;
    __m128i outside;

    // Fills columns [x, x + n) of the input rows that output row oy and the following ones read.
    void fill(const Line512& line, int oy, int x, int n) const {
        const int stride = s.strideW, ix = x * stride - s.padLeft, width = (n - 1) * stride + span;
        const int first = std::clamp(-ix, 0, width), last = std::clamp(s.iw - ix, first, width);
        const int rowsRead = s.kh + (lineRows - 1) * s.strideH;
        for (int g = 0; g < groups; ++g) {
            const int8_t* rows[4] = {};
            bool outer[4] = {};
            for (int k = 0; k < 4 && g * 4 + k < rowsRead; ++k) {
                const int iy = oy * s.strideH - s.padTop + (g * 4 + k) * s.dilateH;
                outer[k] = iy < 0 || iy >= s.ih;
                rows[k] = outer[k] ? t.src : t.src + (ptrdiff_t(iy) * s.iw + ix) * 16;
            }
            fillLine(line, g, rows, outer, border, first, last, stride);
            const auto pad = [&](int from, int to) HWY_ATTR {
                for (int col = from; col < to; ++col)
                    for (int i = 0; i < 4; ++i)
                        _mm_storeu_si128(
                            reinterpret_cast<__m128i*>(line.at(g, i) + col % stride * line.phase + col / stride * 16),
                            outside);
            };
            pad(0, first);
            pad(last, width);
        }
    }

    template <bool Unsigned>
    void compute(const Line512& line, int oy, int x, int n) const {
        const int rows = std::min(lineRows, t.rowEnd - oy);
        int r = 0;
        const auto weights = [&](int row) { return w + row * wBytes; };
        const auto output = [&](int row) { return t.dst + (ptrdiff_t(oy + row) * s.ow + x) * 16; };
        for (; r + 2 <= rows; r += 2) {
            const char* both[2] = {weights(r), weights(r + 1)};
            int8_t* dst[2] = {output(r), output(r + 1)};
            depthwiseRows<2, Unsigned>(line, groups, s.kw, offsets, both, finish, dst, n);
        }
        if (r < rows) {
            const char* one[1] = {weights(r)};
            int8_t* dst[1] = {output(r)};
            depthwiseRows<1, Unsigned>(line, groups, s.kw, offsets, one, finish, dst, n);
        }
    }
};

// Returns false where it does not take the shape.
inline bool depthwiseColumns(const Int8DepthwiseArgs& t) {
    if (!t.bounded) return false;
    const ConvShape& s = *t.shape;
    const int groups = (s.kh + 3) / 4, span = (s.kw - 1) * s.dilateW + 1, stride = s.strideW;
    constexpr int kSlack = 8;  // columns that whole vectors reach beyond the last one, and before the first
    const int maxColumns = kInt8LineBytes / 64 / groups / stride;  // columns of a phase
    const int chunk = std::min(s.ow, maxColumns - kSlack - (span + stride - 1) / stride + 1);
    if (chunk < kVectorColumns && chunk < s.ow) return false;
    const int room = std::min(maxColumns, (chunk + (span + stride - 1) / stride - 1 + kSlack + kVectorColumns - 1) /
                                              kVectorColumns * kVectorColumns);
    const ptrdiff_t lineBytes = ptrdiff_t(groups) * 64 * stride * room;
    const int lines = std::max(1, static_cast<int>(kInt8LineBytes / lineBytes));

    const int wBytes = s.kw * groups * 64;
    int lineRows = s.dilateH == 1 ? 1 + (groups * 4 - s.kh) / s.strideH : 1;
    lineRows = std::clamp(kMovedWeights / wBytes, 1, std::min(lineRows, kMaxLineRows));
    HWY_ALIGN char moved[kMovedWeights];
    if (lineRows > 1) moveWeights(t, groups, lineRows, moved);

    ptrdiff_t offsets[kInt8LineBytes / 64];
    const ptrdiff_t phase = ptrdiff_t(room) * 16;
    for (int kx = 0; kx < s.kw; ++kx) offsets[kx] = kx * s.dilateW % stride * phase + kx * s.dilateW / stride * 16;
    const DepthwiseColumns columns{t,
                                   s,
                                   groups,
                                   span,
                                   lineRows,
                                   lineRows > 1 ? moved : t.w,
                                   wBytes,
                                   offsets,
                                   {_mm512_set1_epi8(static_cast<char>(t.lo)),
                                    _mm512_set1_epi8(static_cast<char>(t.hi)), t.bias, t.scale, t.lo >= 0},
                                   _mm512_set1_epi8(static_cast<char>(t.padding)),
                                   _mm_set1_epi8(static_cast<char>(t.padding + 128))};

    HWY_ALIGN char buffer[kInt8LineBytes + 256];
    for (int x = 0; x < s.ow; x += chunk) {
        const int n = std::min(chunk, s.ow - x);
        // Where the first column of the map begins a cache line, each store of a whole vector stays in one line.
        const int before = stride == 1 ? std::clamp(s.padLeft - x, 0, span) : 0;
        char* base = buffer + (kVectorColumns - before % kVectorColumns) % kVectorColumns * 16;
        const auto line = [&](int i) { return Line512{base + i * lineBytes, phase * stride, phase}; };
        // Several lines are filled before they are read: a load that overlaps two recent stores has to wait for both.
        for (int oy = t.rowBegin; oy < t.rowEnd; oy += lines * lineRows) {
            const int count = std::min(lines, (t.rowEnd - oy + lineRows - 1) / lineRows);
            for (int i = 0; i < count; ++i) columns.fill(line(i), oy + i * lineRows, x, n);
            for (int i = 0; i < count; ++i) {
                if (columns.finish.unsignedResult)
                    columns.compute<true>(line(i), oy + i * lineRows, x, n);
                else
                    columns.compute<false>(line(i), oy + i * lineRows, x, n);
            }
        }
    }
    return true;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
#endif
