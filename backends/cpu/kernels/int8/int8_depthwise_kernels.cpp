// Depthwise convolutions of int8.
#include "backends/cpu/kernels/int8/int8_kernels.h"

#include <algorithm>
#include <cstring>

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

// The rows of the kernel are taken in groups: the bytes (or 16-bit numbers) that one output column reads from a group
// of rows lie together in a lane. They are combined once per input column, in a buffer that stays in the first level
// cache.

// The rows of one group; null where the kernel has no such row (its weight is zero).
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
#if MNNC_NEON64
    if constexpr (C % 4 == 0) {
        const Octets lo8 = octets(t.lo), hi8 = octets(t.hi);
        const auto value = [&](int c) HWY_ATTR { return rounded(hn::Mul(hn::ConvertTo(DF(), acc[c]), scale)); };
        HWY_UNROLL(2)
        for (int c = 0; c < C; c += 4)
            storeFour(value(c), value(c + 1), value(c + 2), value(c + 3), lo8, hi8, dst + c * P);
        return;
    }
#endif
    HWY_UNROLL(8)
    for (int c = 0; c < C; ++c) store(hn::Mul(hn::ConvertTo(DF(), acc[c]), scale), lo, hi, dst + c * P);
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

template <Product K>
void depthwiseU8S8(const Int8DepthwiseArgs& t) {
    constexpr int kRows = 4 / kUnit<K>;  // of a group
    const ConvShape& s = *t.shape;
    const int groups = (s.kh + kRows - 1) / kRows;
    const ptrdiff_t column = ptrdiff_t(groups) * P * 4;
    const int span = (s.kw - 1) * s.dilateW + 1;
    HWY_ALIGN char line[kInt8LineBytes];
    const int columns = static_cast<int>(kInt8LineBytes / column);
    const int chunk = std::min(
        s.ow, (columns - span) / s.strideW + 1);  // outputs at a time; the plan has checked that it is at least 1
    const VI bias = startOf<K>(t, groups);
    const VF scale = hn::LoadU(DF(), t.scale), lo = hn::Set(DF(), t.lo), hi = hn::Set(DF(), t.hi);
    const auto padding = static_cast<uint32_t>(K == Product::Dot ? t.padding & 255 : t.padding + 128);
    const VI outside = hn::Set(DI(), static_cast<int32_t>(padding * (K == Product::Pairs ? 0x00010001u : 0x01010101u)));
    HWY_ALIGN int8_t border[4 * P];
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
                const auto put = [&](int i, VI v) { hn::StoreU(v, DI(), reinterpret_cast<int32_t*>(to + i * column)); };
                const auto rowsAt = [&](int i, const int8_t*(&here)[4]) HWY_ATTR {
                    for (int k = 0; k < 4; ++k) here[k] = rows[k] && !outer[k] ? rows[k] + ptrdiff_t(i) * P : rows[k];
                };
                int i = 0;
                for (; i < first; ++i) put(i, outside);
#if MNNC_NEON64
                for (; i + 4 <= last; i += 4) {
                    const int8_t* here[4];
                    rowsAt(i, here);
                    gatherFour<K>(here, to + i * column, column);
                }
#endif
                if (!any) {
                    for (; i < last; ++i) put(i, gatherRows<K>(rows, ptrdiff_t(i) * P));
                } else {
                    for (; i < last; ++i) {
                        const int8_t* here[4];
                        rowsAt(i, here);
                        put(i, gatherRows<K>(here, 0));
                    }
                }
                for (; i < width; ++i) put(i, outside);
            }
            const ptrdiff_t step = s.strideW * column, dx = s.dilateW * column;
            int8_t* dst = t.dst + (ptrdiff_t(oy) * s.ow + x) * P;
            int i = 0;
            for (; i + 8 <= n; i += 8)
                depthwiseTileU8S8<K, 8>(t, groups, line + i * step, step, dx, bias, scale, lo, hi, dst + i * P);
            for (; i + 2 <= n; i += 2)
                depthwiseTileU8S8<K, 2>(t, groups, line + i * step, step, dx, bias, scale, lo, hi, dst + i * P);
            for (; i < n; ++i)
                depthwiseTileU8S8<K, 1>(t, groups, line + i * step, step, dx, bias, scale, lo, hi, dst + i * P);
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
