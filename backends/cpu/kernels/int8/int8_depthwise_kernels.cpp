// Depthwise convolutions of int8.
#include "backends/cpu/kernels/int8/int8_kernels.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/int8/int8_depthwise_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/int8/int8_math-inl.h"
#include "backends/cpu/kernels/int8/int8_depthwise_columns-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// The rows of the input are taken in groups: the bytes (or 16-bit numbers) of a column from the rows of a group lie
// together in a lane. A group becomes a line, which stays in the first level cache and serves all output rows that read
// it. Where an output row begins inside of a group, the weights are moved by as many rows.

// Loads a column of the rows of a group; a row is null where the kernel has none (its weight is zero).
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
    if constexpr (K != Product::Pairs) {
        if (rows[2]) v = hn::Or(v, hn::ShiftLeft<16>(load(2)));
        if (rows[3]) v = hn::Or(v, hn::ShiftLeft<24>(load(3)));
    }
    if constexpr (K == Product::Dot) return hn::BitCast(DI(), v);
    return hn::BitCast(DI(), hn::Xor(v, hn::Set(du, K == Product::Vnni ? 0x80808080u : 0x00800080u)));
}

#if MNNC_NEON64
// Loads four columns of the rows of one group.
template <Product K>
HWY_INLINE void gatherFour(const int8_t* const (&rows)[4], char* to, ptrdiff_t column) {
    const auto load = [&](int i) HWY_ATTR { return rows[i] ? vld1q_s8(rows[i]) : vdupq_n_s8(0); };
    const auto zip = [&](int a, int b, int8x16_t& low, int8x16_t& high) HWY_ATTR {
        const int8x16_t x = load(a), y = load(b);
        low = vzip1q_s8(x, y);
        high = vzip2q_s8(x, y);
    };
    const auto put = [&](int i, int16x8_t v) HWY_ATTR { vst1q_s16(reinterpret_cast<int16_t*>(to + i * column), v); };
    int8x16_t parts[2], others[2];
    zip(0, 1, parts[0], parts[1]);
    if constexpr (K == Product::Dot) {
        zip(2, 3, others[0], others[1]);
        HWY_UNROLL(2)
        for (int i = 0; i < 2; ++i) {
            const int16x8_t x = vreinterpretq_s16_s8(parts[i]), y = vreinterpretq_s16_s8(others[i]);
            put(2 * i, vzip1q_s16(x, y));
            put(2 * i + 1, vzip2q_s16(x, y));
        }
    } else {
        const int16x8_t half = vdupq_n_s16(128);
        HWY_UNROLL(2)
        for (int i = 0; i < 2; ++i) {
            put(2 * i, vaddq_s16(vmovl_s8(vget_low_s8(parts[i])), half));
            put(2 * i + 1, vaddq_s16(vmovl_high_s8(parts[i]), half));
        }
    }
}
#endif

// The lines of an output row, and its weights.
struct RowLines {
    const char* const* lines;
    int groups;
    const char* w;
};

// `at`: distance in bytes from the start of a line to the column that the first output reads first; `step`, `dx`: from
// one output to the next, and from one tap to the next.
template <Product K, int C>
HWY_INLINE void depthwiseTileU8S8(const Int8DepthwiseArgs& t, const RowLines& row, ptrdiff_t at, ptrdiff_t step,
                                  ptrdiff_t dx, VI bias, VF scale, int8_t* dst) {
    VI acc[C];
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) acc[c] = bias;
    const char* w = row.w;
    for (int kx = 0; kx < t.shape->kw; ++kx, at += dx) {
        for (int g = 0; g < row.groups; ++g, w += P * 4) {
            const VI k = hn::LoadU(DI(), reinterpret_cast<const int32_t*>(w));
            const char* p = row.lines[g] + at;
            HWY_UNROLL(8)
            for (int c = 0; c < C; ++c)
                dot<K>(acc[c], hn::LoadU(DI(), reinterpret_cast<const int32_t*>(p + c * step)), k);
        }
    }
#if MNNC_STORES_FOURS
    Rounded q[C];
    if (t.bounded && t.lo >= 0) {
        HWY_UNROLL(8)
        for (int c = 0; c < C; ++c) q[c] = boundedRound<true>(hn::Mul(hn::ConvertTo(DF(), acc[c]), scale));
    } else {
        HWY_UNROLL(8)
        for (int c = 0; c < C; ++c) q[c] = rounded(hn::Mul(hn::ConvertTo(DF(), acc[c]), scale));
    }
    const Octets lo8 = octets(t.lo), hi8 = octets(t.hi);
    constexpr int kWhole = C / 4 * 4, kLast = C - 1;
    HWY_UNROLL(2)
    for (int c = 0; c < kWhole; c += 4) storeFour(q[c], q[c + 1], q[c + 2], q[c + 3], lo8, hi8, dst + c * P);
    if constexpr (kWhole < C)
        storeFour<C - kWhole>(q[kWhole], q[std::min(kWhole + 1, kLast)], q[std::min(kWhole + 2, kLast)], q[kLast], lo8,
                              hi8, dst + kWhole * P);
#else
    const VF lo = hn::Set(DF(), t.lo), hi = hn::Set(DF(), t.hi);
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) store(hn::Mul(hn::ConvertTo(DF(), acc[c]), scale), lo, hi, dst + c * P);
#endif
}

// Returns the initial value of sums. Products of Dot take x instead of x + 128, so 128 times the sum of the weights is
// added.
template <Product K>
HWY_INLINE VI startOf(const Int8DepthwiseArgs& t, int groups) {
    const VI bias = hn::LoadU(DI(), t.bias);
    if constexpr (K != Product::Dot) return bias;
    VI lacking = hn::Zero(DI());
    for (int i = 0; i < t.shape->kw * groups; ++i)
        dot<K>(lacking, hn::Set(DI(), static_cast<int32_t>(0x80808080u)),
               hn::LoadU(DI(), reinterpret_cast<const int32_t*>(t.w + ptrdiff_t(i) * P * 4)));
    return hn::Sub(bias, lacking);
}

// The columns of the input that some outputs of a row read: `width` from ix on, of which those from `first` to `last`
// are inside of the map.
struct LineColumns {
    int ix, width, first, last;
};

// Makes a line of the `count` rows from iy on that are `stride` apart.
template <Product K>
void fillLine(const Int8DepthwiseArgs& t, int iy, int stride, int count, const LineColumns& columns, char* line) {
    const ConvShape& s = *t.shape;
    const auto padding = static_cast<uint32_t>(K == Product::Dot ? t.padding & 255 : t.padding + 128);
    const VI outside = hn::Set(DI(), static_cast<int32_t>(padding * (K == Product::Pairs ? 0x00010001u : 0x01010101u)));
    HWY_ALIGN int8_t border[4 * P];
    std::memset(border, t.padding, sizeof border);
    const int8_t* rows[4] = {};
    bool outer[4] = {};
    bool any = false;
    for (int k = 0; k < count; ++k, iy += stride) {
        outer[k] = iy < 0 || iy >= s.ih;
        any |= outer[k];
        rows[k] = outer[k] ? border : t.src + (ptrdiff_t(iy) * s.iw + columns.ix) * P;
    }
    constexpr ptrdiff_t kColumn = P * 4;
    const auto put = [&](int i, VI v) { hn::StoreU(v, DI(), reinterpret_cast<int32_t*>(line + i * kColumn)); };
    const auto rowsAt = [&](int i, const int8_t*(&here)[4]) HWY_ATTR {
        for (int k = 0; k < 4; ++k) here[k] = rows[k] && !outer[k] ? rows[k] + ptrdiff_t(i) * P : rows[k];
    };
    int i = 0;
    for (; i < columns.first; ++i) put(i, outside);
#if MNNC_NEON64
    for (; i + 4 <= columns.last; i += 4) {
        const int8_t* here[4];
        rowsAt(i, here);
        gatherFour<K>(here, line + i * kColumn, kColumn);
    }
#endif
    if (!any) {
        for (; i < columns.last; ++i) put(i, gatherRows<K>(rows, ptrdiff_t(i) * P));
    } else {
        for (; i < columns.last; ++i) {
            const int8_t* here[4];
            rowsAt(i, here);
            put(i, gatherRows<K>(here, 0));
        }
    }
    for (; i < columns.width; ++i) put(i, outside);
}

constexpr int kMovedWeightBytes = 8 << 10;

// Stores the weights moved by `rows` rows: [kx][groups][P][4 bytes], from those of `from` groups.
template <Product K>
void moveWeights(const char* w, int kw, int from, int rows, int groups, char* to) {
    const hn::ScalableTag<uint32_t> du;
    const int bits = 8 * kUnit<K> * rows;
    for (int kx = 0; kx < kw; ++kx) {
        auto before = hn::Zero(du);
        for (int g = 0; g < groups; ++g, to += P * 4) {
            auto here = hn::Zero(du);
            if (g < from) {
                here = hn::LoadU(du, reinterpret_cast<const uint32_t*>(w));
                w += P * 4;
            }
            hn::StoreU(hn::Or(hn::ShiftLeftSame(here, bits), hn::ShiftRightSame(before, 32 - bits)), du,
                       reinterpret_cast<uint32_t*>(to));
            before = here;
        }
    }
}

template <Product K>
void depthwiseU8S8(const Int8DepthwiseArgs& t) {
    constexpr int kRows = 4 / kUnit<K>;  // of a group
    constexpr ptrdiff_t kColumn = P * 4;
    const ConvShape& s = *t.shape;
    const int ownGroups = (s.kh + kRows - 1) / kRows, maxGroups = (s.kh + 2 * kRows - 2) / kRows;
    const int span = (s.kw - 1) * s.dilateW + 1;
    const ptrdiff_t weightBytes = s.kw * maxGroups * kColumn;
    // Output rows share lines, unless the kernel is dilated in height or the lines are too long to be kept.
    const bool shares = s.dilateH == 1 && kRows * weightBytes <= kMovedWeightBytes &&
                        ptrdiff_t(span) * maxGroups * kColumn <= kInt8LineBytes;
    HWY_ALIGN char moved[kMovedWeightBytes];
    for (int r = 1; shares && r < kRows; ++r)
        if (r % std::gcd(s.strideH, kRows) == 0)
            moveWeights<K>(t.w, s.kw, ownGroups, r, (r + s.kh + kRows - 1) / kRows, moved + r * weightBytes);

    const int slots = shares ? maxGroups : ownGroups;
    HWY_ALIGN char buffer[kInt8LineBytes];
    const int columns = static_cast<int>(kInt8LineBytes / (slots * kColumn));
    // The outputs at a time are at least one, because int8Objection() (model/int8_limits.h) refuses larger windows.
    const int chunk = std::min(s.ow, (columns - span) / s.strideW + 1);
    const VI bias = startOf<K>(t, ownGroups);
    const VF scale = hn::LoadU(DF(), t.scale);
    const ptrdiff_t step = s.strideW * kColumn, dx = s.dilateW * kColumn;
    for (int x = 0; x < s.ow; x += chunk) {
        const int n = std::min(chunk, s.ow - x), ix = x * s.strideW - s.padLeft;
        const int width = (n - 1) * s.strideW + span;
        const int first = std::clamp(-ix, 0, width);
        const LineColumns read{ix, width, first, std::clamp(s.iw - ix, first, width)};
        int made = 0;  // groups of rows that have a line, or had one
        for (int oy = t.rowBegin; oy < t.rowEnd; ++oy) {
            const char* lines[kInt8LineBytes / kColumn];
            const int row = oy * s.strideH;  // the first one that is read, without the padding
            RowLines reads{lines, ownGroups, t.w};
            if (shares) {
                const int group = row / kRows, inside = row % kRows;
                reads.groups = (inside + s.kh + kRows - 1) / kRows;
                if (inside > 0) reads.w = moved + inside * weightBytes;
                for (int g = 0; g < reads.groups; ++g) {
                    char* line = buffer + (group + g) % slots * columns * kColumn;
                    lines[g] = line;
                    if (group + g < made) continue;
                    fillLine<K>(t, (group + g) * kRows - s.padTop, 1, kRows, read, line);
                    made = group + g + 1;
                }
            } else {
                for (int g = 0; g < ownGroups; ++g) {
                    char* line = buffer + ptrdiff_t(g) * columns * kColumn;
                    lines[g] = line;
                    fillLine<K>(t, row - s.padTop + g * kRows * s.dilateH, s.dilateH, std::min(kRows, s.kh - g * kRows),
                                read, line);
                }
            }
            int8_t* dst = t.dst + (ptrdiff_t(oy) * s.ow + x) * P;
            const auto tile = [&]<int C>(int i, std::integral_constant<int, C>) {
                depthwiseTileU8S8<K, C>(t, reads, i * step, step, dx, bias, scale, dst + i * P);
            };
            using std::integral_constant;
            int i = 0;
            for (; i + 8 <= n; i += 8) tile(i, integral_constant<int, 8>());
            if (n - i > 4 && n >= 8) {  // some outputs are computed twice, with the same results
                tile(n - 8, integral_constant<int, 8>());
                continue;
            }
            for (; i + 4 <= n; i += 4) tile(i, integral_constant<int, 4>());
            if (n - i == 3) tile(i, integral_constant<int, 3>());
            if (n - i == 2) tile(i, integral_constant<int, 2>());
            if (n - i == 1) tile(i, integral_constant<int, 1>());
        }
    }
}

}  // namespace

using DepthwiseFn = decltype(Int8Kernels::depthwise);

DepthwiseFn int8DepthwisePairs() {
    return &depthwiseU8S8<Product::Pairs>;
}
#if HWY_TARGET == HWY_AVX3
DepthwiseFn int8DepthwiseVnni() {
    return [](const Int8DepthwiseArgs& t) {
        if (!depthwiseColumns(t)) depthwiseU8S8<Product::Vnni>(t);
    };
}
#elif HWY_TARGET == HWY_AVX2
DepthwiseFn int8DepthwiseVnni() {
    return &depthwiseU8S8<Product::Vnni>;
}
#elif MNNC_NEON64
DepthwiseFn int8DepthwiseDot() {
    return &depthwiseU8S8<Product::Dot>;
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
#if HWY_ARCH_ARM_A64 && (HWY_TARGETS & HWY_NEON)
    if (product == Int8Product::Dot || product == Int8Product::Matrix) return N_NEON::int8DepthwiseDot();
#endif
    static_cast<void>(product);
    MNNC_SELECT(isa, int8DepthwisePairs)
}
}  // namespace mnnc
#endif
