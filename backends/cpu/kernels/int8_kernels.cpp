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

// acc += the products of the four bytes (Vnni; x unsigned) or two 16-bit numbers (Pairs) in each lane. Highway has no
// target with VNNI; the instruction is written out, and used where the CPU has it.
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
    const VI low = hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(x)), hn::ShiftRight<16>(hn::ShiftLeft<16>(w)));
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
HWY_INLINE void accumulate(VI (&acc)[R][NB], const char* const (&q)[(R + 2) / 3], ptrdiff_t s, int at, const char* w) {
    VI b[NB];
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n)
        b[n] = hn::LoadU(DI(), reinterpret_cast<const int32_t*>(w + n * P * 4));
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
    const VF lo = hn::Set(df, t.lo), hi = hn::Set(df, t.hi), ratio = hn::Set(df, t.ratio);
    const ptrdiff_t ps = t.dstPixelStride, bs = t.dstBlockStride;
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) {
        const VF scale = hn::LoadU(df, t.scale + n * P), offset = hn::LoadU(df, t.offset + n * P);
        const ptrdiff_t to = at * ps + n * bs;
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            VF v = hn::Mul(hn::Mul(hn::ConvertTo(df, acc[r][n]), scale), ratio);
            if (HWY_UNLIKELY(t.min != nullptr))
                v = hn::Add(v, hn::Mul(hn::Set(df, t.pixelSums[at + r]), hn::LoadU(df, t.min + n * P)));
            v = hn::Add(v, offset);
            if (HWY_UNLIKELY(t.floats != nullptr))
                hn::StoreU(clamp(v, lo, hi), df, t.floats + to + r * ps);
            else
                store(v, lo, hi, t.dst + to + r * ps);
        }
    }
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
// The rows of the kernel are taken in groups: the bytes (or 16-bit numbers) that one output column takes from a group
// of rows lie together in a lane. They are put together once per input column, in a buffer of the first level cache.

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
HWY_INLINE void depthwiseTile(const Int8DepthwiseArgs& t, int groups, const char* line, ptrdiff_t step, ptrdiff_t dx,
                              VI bias, VF scale, VF lo, VF hi, int8_t* dst) {
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
    const int chunk = std::min(s.ow, (columns - span) / s.strideW + 1);  // outputs at a time; the plan saw to >= 1
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

// ---- element by element ----

template <Product K>
void widen(const int8_t* src, char* dst, size_t count) {
    if constexpr (K == Product::Vnni) {
        const hn::ScalableTag<uint8_t> d;
        const auto half = hn::Set(d, uint8_t{128});
        const auto* from = reinterpret_cast<const uint8_t*>(src);
        auto* to = reinterpret_cast<uint8_t*>(dst);
        size_t i = 0;
        for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) hn::StoreU(hn::Xor(hn::LoadU(d, from + i), half), d, to + i);
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
    const VF scale = hn::LoadU(d, t.scale), zero = hn::LoadU(d, t.zero), lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi);
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
    const VF za = hn::Set(d, t.zeroA), zb = hn::Set(d, t.zeroB), sa = hn::Set(d, t.scaleA), sb = hn::Set(d, t.scaleB);
    const VF inverse = hn::Set(d, t.inverse), lo = hn::Set(d, t.lo - t.zero), hi = hn::Set(d, t.hi - t.zero);
    const VI zero = hn::Set(DI(), static_cast<int32_t>(t.zero));
    const auto one = [&](const int8_t* pa, const int8_t* pb, int8_t* to) {
        const VF x = hn::Mul(hn::Sub(loadFloats(pa), za), sa), y = hn::Mul(hn::Sub(loadFloats(pb), zb), sb);
        VF v;
        if constexpr (Op == Int8Binary::Add) v = hn::Add(x, y);
        if constexpr (Op == Int8Binary::Sub) v = hn::Sub(x, y);
        if constexpr (Op == Int8Binary::Mul) v = hn::Mul(x, y);
        hn::StoreU(hn::DemoteTo(DB(), hn::Add(round(clamp(hn::Mul(v, inverse), lo, hi)), zero)), DB(), to);
    };
    size_t i = 0;
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

template <Product K>
constexpr Int8Kernels tableOf(const char* name) {
    return {P,
            kUnit<K>,
            kMaxBlocks,
            {0, kMaxRows[1], kMaxRows[2], kMaxRows[3], kMaxRows[4]},
            &panel<K>,
            &depthwise<K>,
            &widen<K>,
            &quantize,
            &dequantize,
            &binary,
            name};
}

}  // namespace

const Int8Kernels& int8Table() {
    static constexpr Int8Kernels table = tableOf<Product::Pairs>(HWY_TARGET <= HWY_SSE4 && P <= 16 ? "madd" : "portable");
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
const Int8Kernels& int8Kernels(Isa isa) {
    const CpuFeatures cpu = detectCpuFeatures();
#if HWY_TARGETS & HWY_AVX3
    if (isa == Isa::Avx512 && cpu.avx512Vnni) return N_AVX3::int8VnniTable();
#endif
#if HWY_TARGETS & HWY_AVX2
    if (isa == Isa::Avx2 && cpu.avxVnni) return N_AVX2::int8VnniTable();
#endif
    MNNC_SELECT(isa, int8Table)
}
}  // namespace mnnc
#endif
