// Element-wise operators of int8, maxima and averages of rows, and conversions between int8 and float.
#include "backends/cpu/kernels/int8/int8_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/int8/int8_element_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/int8/int8_math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE VF loadFloats(const int8_t* from) {
    return hn::ConvertTo(DF(), hn::PromoteTo(DI(), hn::LoadU(DB(), from)));
}

template <Product K>
void widenS8(const int8_t* src, char* dst, size_t count) {
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

// Calls move(src, dst) for each block of each pixel. Several blocks of a pixel are a line of the cache, which is
// written once.
template <int Bytes, typename Move>
HWY_INLINE void eachPixelBlock(const Int8PixelsArgs& t, Move move) {
    constexpr int kTogether = 64 / Bytes;
    for (int b = 0; b < t.blocks; b += kTogether) {
        const int count = std::min(kTogether, t.blocks - b);
        const int8_t* src = t.src + b * t.srcBlock;
        char* dst = t.dst + ptrdiff_t{b} * Bytes;
        for (int i = 0; i < t.pixels; ++i, src += t.srcPixel, dst += t.dstPixel)
            for (int k = 0; k < count; ++k) move(src + k * t.srcBlock, dst + k * Bytes);
    }
}

void widenPixelsS8(const Int8PixelsArgs& args) {
    const hn::CappedTag<int16_t, P> d;
    const hn::Rebind<int8_t, decltype(d)> db;
    const auto half = hn::Set(d, int16_t{128});
    eachPixelBlock<2 * P>(args, [&](const int8_t* src, char* dst) HWY_ATTR {
        auto* to = reinterpret_cast<int16_t*>(dst);
        for (size_t i = 0; i < P; i += hn::Lanes(d))
            hn::StoreU(hn::Add(hn::PromoteTo(d, hn::LoadU(db, src + i)), half), d, to + i);
    });
}

void copyPixelsS8(const Int8PixelsArgs& args) {
    eachPixelBlock<P>(args, [](const int8_t* src, char* dst) HWY_ATTR { std::memcpy(dst, src, P); });
}

void quantizeF32S8(const float* src, int8_t* dst, size_t blocks, const QuantizeArgs& t) {
    const DF d;
    const VF scale = hn::LoadU(d, t.scale), zero = hn::LoadU(d, t.zero), lo = hn::Set(d, t.lo), hi = hn::Set(d, t.hi);
    for (size_t i = 0; i < blocks; ++i)
        store(hn::Add(hn::Mul(hn::LoadU(d, src + i * P), scale), zero), lo, hi, dst + i * P);
}

void dequantizeS8F32(const int8_t* src, float* dst, size_t blocks, const float* scale, const float* zero) {
    const DF d;
    const VF s = hn::LoadU(d, scale), z = hn::LoadU(d, zero);
    for (size_t i = 0; i < blocks; ++i) hn::StoreU(hn::Mul(hn::Sub(loadFloats(src + i * P), z), s), d, dst + i * P);
}

// Special cases with fewer instructions: zero points of 0 (Centred), and also a result that is bounded and not negative
// (Rectified).
enum class BinaryKind { Any, Centred, Rectified };

template <Int8Binary Op, BinaryKind Kind>
HWY_INLINE VF binaryValue(const int8_t* a, const int8_t* b, const Int8BinaryArgs& t) {
    const DF d;
    const auto operand = [&](const int8_t* from, float zero, float scale) HWY_ATTR {
        VF x = loadFloats(from);
        if constexpr (Kind == BinaryKind::Any) x = hn::Sub(x, hn::Set(d, zero));
        return hn::Mul(x, hn::Set(d, scale));
    };
    const VF x = operand(a, t.zeroA, t.scaleA), y = operand(b, t.zeroB, t.scaleB), inverse = hn::Set(d, t.inverse);
    if constexpr (Op == Int8Binary::Add) return hn::Mul(hn::Add(x, y), inverse);
    if constexpr (Op == Int8Binary::Sub) return hn::Mul(hn::Sub(x, y), inverse);
    return hn::Mul(hn::Mul(x, y), inverse);
}

template <Int8Binary Op>
void binaryOne(const int8_t* a, const int8_t* b, int8_t* to, const Int8BinaryArgs& t) {
    const VF lo = hn::Set(DF(), t.lo - t.zero), hi = hn::Set(DF(), t.hi - t.zero);
    const VI zero = hn::Set(DI(), static_cast<int32_t>(t.zero));
    const VF value = binaryValue<Op, BinaryKind::Any>(a, b, t);
    hn::StoreU(hn::DemoteTo(DB(), hn::Add(round(clamp(value, lo, hi)), zero)), DB(), to);
}

#if MNNC_STORES_FOURS
// Returns whether no result reaches 2^30 before it is clipped.
inline bool isBounded(const Int8BinaryArgs& t) {
    const double a = 255.0 * t.scaleA, b = 255.0 * t.scaleB;
    return std::abs((t.op == Int8Binary::Mul ? a * b : std::abs(a) + std::abs(b)) * t.inverse) < 1 << 30;
}

// Computes four vectors at a time where results are bounded: then adding the zero point does not wrap. Returns how many
// numbers they were.
template <Int8Binary Op, BinaryKind Kind>
size_t binaryFours(const int8_t* a, const int8_t* b, int8_t* dst, size_t count, const Int8BinaryArgs& t) {
    const Octets lo = octets(t.lo), hi = octets(t.hi);
    const VI zero = hn::Set(DI(), static_cast<int32_t>(t.zero));
    const auto code = [&](size_t at) HWY_ATTR {
        const VF value = binaryValue<Op, Kind>(a + at, b + at, t);
        if constexpr (Kind == BinaryKind::Rectified) return boundedRound<true>(value);
        const Rounded result = boundedRound<false>(value);
        if constexpr (Kind == BinaryKind::Centred) return result;
        return hn::Add(VI{result}, zero).raw;
    };
    size_t i = 0;
    for (; i + 4 * P <= count; i += 4 * P)
        storeFour(code(i), code(i + P), code(i + 2 * P), code(i + 3 * P), lo, hi, dst + i);
    return i;
}
#endif

template <Int8Binary Op>
void binaryOfS8(const int8_t* a, const int8_t* b, int8_t* dst, size_t count, const Int8BinaryArgs& t) {
    size_t i = 0;
#if MNNC_STORES_FOURS
    const bool centred = t.zeroA == 0 && t.zeroB == 0 && t.zero == 0;
    i = !isBounded(t) ? 0
        : !centred    ? binaryFours<Op, BinaryKind::Any>(a, b, dst, count, t)
        : t.lo >= 0   ? binaryFours<Op, BinaryKind::Rectified>(a, b, dst, count, t)
                      : binaryFours<Op, BinaryKind::Centred>(a, b, dst, count, t);
#endif
    for (; i + P <= count; i += P) binaryOne<Op>(a + i, b + i, dst + i, t);
    if (i < count) {
        int8_t rest[3][P] = {};
        std::memcpy(rest[0], a + i, count - i);
        std::memcpy(rest[1], b + i, count - i);
        binaryOne<Op>(rest[0], rest[1], rest[2], t);
        std::memcpy(dst + i, rest[2], count - i);
    }
}

void binaryS8(const int8_t* a, const int8_t* b, int8_t* dst, size_t count, const Int8BinaryArgs& t) {
    switch (t.op) {
        case Int8Binary::Add:
            return binaryOfS8<Int8Binary::Add>(a, b, dst, count, t);
        case Int8Binary::Sub:
            return binaryOfS8<Int8Binary::Sub>(a, b, dst, count, t);
        case Int8Binary::Mul:
            return binaryOfS8<Int8Binary::Mul>(a, b, dst, count, t);
    }
}

// Takes the maxima of columns first, whole vectors at a time, and then those of the columns of each output: windows
// that overlap share the columns. Only a window wider than the buffer, as of a global pooling, goes tap by tap.
void maximumS8(const int8_t* const* rows, int rowCount, const PoolSpan* spans, int outputs, int8_t* dst) {
    constexpr int kColumns = 144;  // those of 64 windows with a stride of 2
    const DB d;
    const hn::ScalableTag<int8_t> whole;
    const ptrdiff_t lanes = static_cast<ptrdiff_t>(hn::Lanes(whole));
    HWY_ALIGN int8_t columns[kColumns * P];
    for (int x = 0; x < outputs;) {
        const int first = spans[x].first;
        int end = x;
        while (end < outputs && spans[end].last - first <= kColumns) ++end;
        if (end == x) {
            auto best = hn::Set(d, int8_t{-128});
            for (int y = 0; y < rowCount; ++y) {
                for (ptrdiff_t i = first; i < spans[x].last; ++i) best = hn::Max(best, hn::LoadU(d, rows[y] + i * P));
            }
            hn::StoreU(best, d, dst + ptrdiff_t{x++} * P);
            continue;
        }
        const ptrdiff_t from = ptrdiff_t{first} * P, count = ptrdiff_t{spans[end - 1].last} * P - from;
        ptrdiff_t i = 0;
        for (; i + lanes <= count; i += lanes) {
            auto best = hn::LoadU(whole, rows[0] + from + i);
            for (int y = 1; y < rowCount; ++y) best = hn::Max(best, hn::LoadU(whole, rows[y] + from + i));
            hn::Store(best, whole, columns + i);
        }
        for (; i < count; i += P) {
            auto best = hn::LoadU(d, rows[0] + from + i);
            for (int y = 1; y < rowCount; ++y) best = hn::Max(best, hn::LoadU(d, rows[y] + from + i));
            hn::StoreU(best, d, columns + i);
        }
        for (; x < end; ++x) {
            auto best = hn::Set(d, int8_t{-128});
            for (ptrdiff_t c = spans[x].first - first; c < spans[x].last - first; ++c)
                best = hn::Max(best, hn::LoadU(d, columns + c * P));
            hn::StoreU(best, d, dst + ptrdiff_t{x} * P);
        }
    }
}

// Sums are exact below 2^24 taps. With Nearest, each step is exact where the divisor is below 2^15.
template <bool Nearest>
HWY_INLINE void storeAverage(VI sum, int64_t count, int8_t* to) {
    const hn::RebindToUnsigned<DI> du;
    const VI half = hn::Set(DI(), 128);
    if constexpr (Nearest) {
        if (count >= 1 << 15) {
            HWY_ALIGN int32_t lanes[P];
            hn::Store(sum, DI(), lanes);
            for (int l = 0; l < P; ++l)
                to[l] = static_cast<int8_t>(
                    (static_cast<uint64_t>(static_cast<uint32_t>(lanes[l])) + static_cast<uint64_t>(count) / 2) /
                        static_cast<uint64_t>(count) -
                    128);
            return;
        }
        const VI divisor = hn::Set(DI(), static_cast<int32_t>(count)),
                 dividend = hn::Add(sum, hn::Set(DI(), static_cast<int32_t>(count / 2)));
        const VF reciprocal = hn::Set(DF(), 1.0f / static_cast<float>(count));
        VI y = hn::ConvertTo(DI(), hn::Mul(hn::ConvertTo(DF(), dividend), reciprocal));
        const VI rest = hn::Sub(dividend, hn::Mul(y, divisor)), one = hn::Set(DI(), 1);
        y = hn::Sub(y, hn::IfThenElseZero(hn::Lt(rest, hn::Zero(DI())), one));
        y = hn::Add(y, hn::IfThenElseZero(hn::Not(hn::Lt(rest, divisor)), one));
        hn::StoreU(hn::DemoteTo(DB(), hn::Sub(y, half)), DB(), to);
    } else {
        const auto reciprocal = hn::Set(du, static_cast<uint32_t>((1 << 24) / count));
        const auto y = hn::ShiftRight<24>(hn::Mul(hn::BitCast(du, sum), reciprocal));
        hn::StoreU(hn::DemoteTo(DB(), hn::Sub(hn::BitCast(DI(), y), half)), DB(), to);
    }
}

template <bool Nearest>
void averageRow(const Int8AverageArgs& t) {
    const int64_t rows = int64_t{t.depth} * t.height;
    for (int x = 0; x < t.outputs; ++x) {
        const int first = t.spans[x].first, last = std::max(t.spans[x].last, first);
        const int64_t inside = rows * (last - first), count = t.countsPadding ? t.rowCount * t.widthCounts[x] : inside;
        int8_t* to = t.dst + ptrdiff_t(x) * P;
        if (count <= 0) {
            hn::StoreU(hn::Set(DB(), t.empty), DB(), to);
            continue;
        }
        VI a = hn::Set(DI(), static_cast<int32_t>(inside * 128 + (count - inside) * t.outside)), b = hn::Zero(DI());
        for (int z = 0; z < t.depth; ++z)
            for (int y = 0; y < t.height; ++y) {
                const int8_t* from = t.src + z * t.depthStride + y * t.rowStride + ptrdiff_t(first) * P;
                int i = first;
                for (; i + 2 <= last; i += 2, from += 2 * P) {
                    a = hn::Add(a, hn::PromoteTo(DI(), hn::LoadU(DB(), from)));
                    b = hn::Add(b, hn::PromoteTo(DI(), hn::LoadU(DB(), from + P)));
                }
                if (i < last) a = hn::Add(a, hn::PromoteTo(DI(), hn::LoadU(DB(), from)));
            }
        storeAverage<Nearest>(hn::Add(a, b), count, to);
    }
}

void averageS8(const Int8AverageArgs& t) {
    return t.nearest ? averageRow<true>(t) : averageRow<false>(t);
}

}  // namespace

const Int8ElementKernels& int8ElementTable() {
    static constexpr Int8ElementKernels table = {&quantizeF32S8, &dequantizeS8F32,
                                                 &binaryS8,      &maximumS8,
                                                 &averageS8,     {&widenS8<Product::Pairs>, &widenS8<Product::Vnni>},
                                                 &widenPixelsS8, &copyPixelsS8};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const Int8ElementKernels& int8ElementKernels(Isa isa) {
    MNNC_SELECT(isa, int8ElementTable)
}
}  // namespace mnnc
#endif
