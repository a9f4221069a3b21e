// Vector forms of exp, log, tanh, erf and functions built from them, with an error of a few ulp. Files of kernels
// include them once per instruction set, hence the toggling guard.
#if defined(MNNC_ELEMENTWISE_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNNC_ELEMENTWISE_MATH_INL_H
#undef MNNC_ELEMENTWISE_MATH_INL_H
#else
#define MNNC_ELEMENTWISE_MATH_INL_H
#endif

#include <cmath>
#include <cstddef>
#include <cstring>

#include "backends/cpu/kernels/elementwise/elementwise_tables.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr size_t kLanes = hn::MaxLanes(D());

HWY_INLINE V k(float value) {
    return hn::Set(D(), value);
}

#if HWY_TARGET == HWY_AVX2
// Returns the mask of the first `count` lanes.
HWY_INLINE __m256i firstLanes(size_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
#endif

#if HWY_TARGET != HWY_AVX3 && HWY_TARGET != HWY_AVX2
// Sets without masks copy the ends of rows. These are functions of their own, because many loops contain them.
HWY_MAYBE_UNUSED HWY_NOINLINE V loadPart(const float* x, size_t count, float fill) {
    alignas(64) float buffer[kLanes];
    hn::Store(k(fill), D(), buffer);
    std::memcpy(buffer, x, count * sizeof(float));
    return hn::Load(D(), buffer);
}
HWY_MAYBE_UNUSED HWY_NOINLINE void storePart(V v, float* y, size_t count) {
    alignas(64) float buffer[kLanes];
    hn::Store(v, D(), buffer);
    std::memcpy(y, buffer, count * sizeof(float));
}
#endif

// Loads `count` <= Lanes floats; the lanes behind them become `fill`.
HWY_INLINE V loadSome(const float* x, size_t count, float fill) {
    const D d;
    if (count >= hn::Lanes(d)) return hn::LoadU(d, x);
#if HWY_TARGET == HWY_AVX3
    return V{_mm512_mask_loadu_ps(k(fill).raw, static_cast<__mmask16>((1u << count) - 1), x)};
#elif HWY_TARGET == HWY_AVX2
    const __m256i first = firstLanes(count);
    return V{_mm256_blendv_ps(k(fill).raw, _mm256_maskload_ps(x, first), _mm256_castsi256_ps(first))};
#else
    return loadPart(x, count, fill);
#endif
}

HWY_INLINE void storeSome(V v, float* y, size_t count) {
    const D d;
    if (count >= hn::Lanes(d)) return hn::StoreU(v, d, y);
#if HWY_TARGET == HWY_AVX3
    _mm512_mask_storeu_ps(y, static_cast<__mmask16>((1u << count) - 1), v.raw);
#elif HWY_TARGET == HWY_AVX2
    _mm256_maskstore_ps(y, firstLanes(count), v.raw);
#else
    storePart(v, y, count);
#endif
}

// Min and Max of a limit and a value, which keep a value that is NaN.
namespace limit {
#if HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64
HWY_INLINE V Min(V max, V x) {
    return V(vminq_f32(max.raw, x.raw));
}
HWY_INLINE V Max(V min, V x) {
    return V(vmaxq_f32(min.raw, x.raw));
}
#elif HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128  // there the result is the second operand if one of them is NaN
HWY_INLINE V Min(V max, V x) {
    return hn::Min(max, x);
}
HWY_INLINE V Max(V min, V x) {
    return hn::Max(min, x);
}
#else
HWY_INLINE V Min(V max, V x) {
    return hn::IfThenElse(hn::Gt(x, max), max, x);
}
HWY_INLINE V Max(V min, V x) {
    return hn::IfThenElse(hn::Lt(x, min), min, x);
}
#endif
HWY_INLINE V clamp(V x, V min, V max) {
    return limit::Min(max, limit::Max(min, x));
}
}  // namespace limit

// The extremes of two values; NaN if one of them is NaN.
HWY_INLINE V minimum(V a, V b) {
    return hn::IfThenElse(hn::IsNaN(a), a, limit::Min(a, b));
}
HWY_INLINE V maximum(V a, V b) {
    return hn::IfThenElse(hn::IsNaN(a), a, limit::Max(a, b));
}

// Limits x to the range where e^x is a normal number or, above 88.72, infinite.
constexpr float kMinExp = -87.33654f;
HWY_INLINE V expLimits(V x) {
    return limit::Min(k(89.0f), limit::Max(k(kMinExp), x));
}
// exp as 2^n * (1 + m): m = e^r - 1 with |r| <= ln2/2, kept apart so that expm1 loses nothing. r follows from the
// reduction of Cody and Waite (1980), which splits ln2 into two floats; m is a Taylor polynomial.
struct ExpParts {
    V m, n;
};
HWY_INLINE ExpParts expParts(V x) {
    const V n = hn::Round(hn::Mul(x, k(1.44269504f)));
    V r = hn::NegMulAdd(n, k(0.693359375f), x);
    r = hn::NegMulAdd(n, k(-2.12194440e-4f), r);
    V p = k(1.0f / 5040);
    p = hn::MulAdd(p, r, k(1.0f / 720));
    p = hn::MulAdd(p, r, k(1.0f / 120));
    p = hn::MulAdd(p, r, k(1.0f / 24));
    p = hn::MulAdd(p, r, k(1.0f / 6));
    p = hn::MulAdd(p, r, k(0.5f));
    return {hn::MulAdd(hn::Mul(p, r), r, r), n};
}
#if HWY_TARGET == HWY_AVX3
// Returns table[the last five bits of `index`].
HWY_INLINE V lookUp(const float (&table)[32], V index) {
    const D d;
    return V{_mm512_permutex2var_ps(hn::Load(d, table).raw, _mm512_castps_si512(index.raw),
                                    hn::Load(d, table + kLanes).raw)};
}
#elif HWY_TARGET == HWY_AVX2
// Returns table[the last three bits of `index`].
HWY_INLINE V lookUp(const float (&table)[8], V index) {
    return V{_mm256_permutevar8x32_ps(hn::Load(D(), table).raw, _mm256_castps_si256(index.raw))};
}
#endif
// v * 2^n
HWY_INLINE V timesPowerOf2(V v, V n) {
#if HWY_TARGET == HWY_AVX3
    return V{_mm512_scalef_ps(v.raw, n.raw)};
#else
    const D d;
    const hn::RebindToSigned<D> di;
    // n reaches 128: two factors are used, each a normal number.
    const auto whole = hn::ConvertTo(di, n);
    const auto half = hn::ShiftRight<1>(whole);
    const auto bias = hn::Set(di, 127);
    const V a = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
    const V b = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(whole, half), bias)));
    return hn::Mul(hn::Mul(v, a), b);
#endif
}
// e^x, or e^-x with a Sign of -1, where it is a normal number and the exponent at most 88 with AVX2.
template <int Sign = 1>
HWY_INLINE V expNormal(V x) {
#if HWY_TARGET == HWY_AVX3
    // 2^(x log2 e) is 2^n * 2^r, n a multiple of 1/32 and |r| <= 1/64. The last bits of the sum are n, whose fraction
    // is the index into the table (Tang, "Table-driven implementation of the exponential function", 1989); scalef takes
    // its whole part. The polynomial of 2^r - 1 is Taylor's.
    const V shifter = k(0x1.8p18f), log2e = k(Sign * 0x1.715476p0f);
    const V sum = hn::MulAdd(x, log2e, shifter);
    const V n = hn::Sub(sum, shifter);
    const V r = hn::MulAdd(x, k(Sign * 0x1.4ae0cp-26f), hn::MulSub(x, log2e, n));
    V p = hn::MulAdd(r, k(0.0555041087f), k(0.240226507f));
    p = hn::Mul(r, hn::MulAdd(r, p, k(0.693147181f)));
    const V power = lookUp(kPowersOf2, sum);
    return timesPowerOf2(hn::MulAdd(power, p, power), n);
#elif HWY_TARGET == HWY_AVX2
    // The same with n a multiple of 1/4 and |r| <= 1/8. Shifted, the index has its whole part in the exponent, and its
    // fraction where the table's numbers lack it. The polynomial was fitted for this file (error 3e-9).
    const V shifter = k(0x1.8p21f), log2e = k(Sign * 0x1.715476p0f);
    const V sum = hn::MulAdd(x, log2e, shifter);
    const V r = hn::MulAdd(x, k(Sign * 0x1.4ae0cp-26f), hn::MulSub(x, log2e, hn::Sub(sum, shifter)));
    V p = hn::MulAdd(r, k(0.00961617939f), k(0.0555299968f));
    p = hn::MulAdd(r, p, k(0.240226567f));
    p = hn::Mul(r, hn::MulAdd(r, p, k(0.693147063f)));
    const __m256i index = _mm256_castps_si256(sum.raw);
    const __m256 entry = _mm256_load_ps(reinterpret_cast<const float*>(kPowersOf2By4));
    const __m256i bits = _mm256_castps_si256(_mm256_permutevar_ps(entry, index));
    const V power{_mm256_castsi256_ps(_mm256_add_epi32(bits, _mm256_slli_epi32(index, 21)))};
    return hn::MulAdd(power, p, power);
#else
    const ExpParts e = expParts(Sign < 0 ? hn::Neg(x) : x);
    return timesPowerOf2(hn::Add(e.m, k(1)), e.n);
#endif
}
// The same for any x up to 88. Returns 0 where e^x would be subnormal.
HWY_INLINE V expUpTo88(V x) {
    return hn::IfThenZeroElse(hn::Lt(x, k(kMinExp)), expNormal(limit::Max(k(kMinExp), x)));
}

// Returns y, with the lanes whose x lies outside of low..high or is NaN computed one by one. A lane never depends on
// its neighbours, which may be no elements at all.
[[maybe_unused]] HWY_NOINLINE V eachLane(V x, V y, float low, float high, float (*each)(float)) {
    HWY_ALIGN float from[kLanes], to[kLanes];
    hn::Store(x, D(), from);
    hn::Store(y, D(), to);
    HWY_UNROLL(1)
    for (size_t i = 0; i < kLanes; ++i)
        if (!(from[i] >= low && from[i] <= high)) to[i] = each(from[i]);
    return hn::Load(D(), to);
}
// Returns 0 where e^x would be subnormal.
HWY_INLINE V vexp(V x) {
#if HWY_TARGET == HWY_AVX2
    const V y = expUpTo88(x);
    if (HWY_LIKELY(hn::AllTrue(D(), hn::Le(x, k(88))))) return y;
    return eachLane(x, y, -INFINITY, 88, [](float v) { return std::exp(v); });
#else
    return hn::IfThenZeroElse(hn::Lt(x, k(kMinExp)), expNormal(expLimits(x)));
#endif
}
// Stores y = e^(x - shift), also in place; no x is above shift. Returns partial sums, one a lane. Lanes behind the row
// add 0.
HWY_INLINE V exponentials(const float* x, float* y, size_t n, V shift) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    V sum = hn::Zero(d);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const V e = expUpTo88(hn::Sub(hn::LoadU(d, x + i), shift));
        hn::StoreU(e, d, y + i);
        sum = hn::Add(sum, e);
    }
    if (i < n) {
        const V e = expUpTo88(hn::Sub(loadSome(x + i, n - i, -INFINITY), shift));
        storeSome(e, y + i, n - i);
        sum = hn::Add(sum, e);
    }
    return sum;
}
HWY_INLINE V vexpm1(V x) {
    const ExpParts e = expParts(expLimits(x));
    const V whole = hn::Sub(timesPowerOf2(hn::Add(e.m, k(1)), e.n), k(1));
    return hn::IfThenElse(hn::Lt(hn::Abs(x), k(0.34f)), e.m, whole);
}

HWY_INLINE V vlog(V x) {
    const D d;
    V y = hn::Log(d, x);
    const V inf = hn::Inf(d);
    y = hn::IfThenElse(hn::Eq(x, k(0)), hn::Neg(inf), y);
    y = hn::IfThenElse(hn::Eq(x, inf), inf, y);
    // The logarithm of a negative number or NaN is NaN.
    return hn::IfThenElse(hn::Ge(x, k(0)), y, hn::NaN(d));
}
HWY_INLINE V vlog1p(V x) {
    const V u = hn::Add(x, k(1));
    // The part that the addition rounded away gives a first-order correction.
    const V lost = hn::Div(hn::Sub(x, hn::Sub(u, k(1))), u);
    const V y = vlog(u);
    return hn::IfThenElse(hn::Lt(hn::Abs(x), k(0.9999f)), hn::Add(y, lost), y);
}

// Returns 1 / x for normal x whose reciprocal is normal, within two units in the last place.
HWY_INLINE V vreciprocal(V x) {
#if HWY_TARGET == HWY_AVX3
    // The estimate has 14 bits, and Newton's step doubles them.
    const V r{_mm512_rcp14_ps(x.raw)};
    return hn::Mul(r, hn::NegMulAdd(x, r, k(2)));
#else
    return hn::Div(k(1), x);
#endif
}
// The largest sum here is 1 + e^87.3, which has a normal reciprocal.
HWY_INLINE V vsigmoid(V x) {
    const V held = limit::Min(k(87.3f), limit::Max(k(-87.3f), x));
    return vreciprocal(hn::Add(k(1), expNormal<-1>(held)));
}
// The sigmoid is never 0, so x is held where the product is negligible.
HWY_INLINE V vsilu(V x) {
    const V above = limit::Max(k(-87.3f), x);
    const V divisor = hn::Add(k(1), expNormal<-1>(limit::Min(k(87.3f), above)));
#if HWY_TARGET == HWY_AVX2
    return hn::Div(above, divisor);
#else
    return hn::Mul(above, vreciprocal(divisor));
#endif
}

// tanh is x + x^3 p(x^2) below 0.625, whose polynomial was fitted for this file (error 7e-9), and 1 - 2 / (e^2|x| + 1)
// above; beyond 10 it is 1.
HWY_INLINE V vtanh(V x) {
    const V a = hn::Abs(x), s = hn::Mul(x, x);
    V p = k(-0.00566698005f);
    p = hn::MulAdd(p, s, k(0.0206061807f));
    p = hn::MulAdd(p, s, k(-0.0537300073f));
    p = hn::MulAdd(p, s, k(0.133313313f));
    p = hn::MulAdd(p, s, k(-0.333332777f));
    const V small = hn::MulAdd(hn::Mul(p, s), a, a);
    const V held = limit::Min(k(10), a);
    const V rest = vreciprocal(hn::Add(k(1), expNormal(hn::Add(held, held))));
    const V large = hn::NegMulAdd(rest, k(2), k(1));
    // A NaN takes the polynomial, which keeps it.
    return hn::CopySignToAbs(hn::IfThenElse(hn::Ge(a, k(0.625f)), large, small), x);
}

// Highway's functions, whose results are y, take a limited range: lanes beyond it and NaN are computed one by one.
HWY_INLINE V withinBound(V x, float bound, V y, float (*each)(float)) {
    if (HWY_LIKELY(hn::AllTrue(D(), hn::Le(hn::Abs(x), k(bound))))) return y;
    return eachLane(x, y, -bound, bound, each);
}
constexpr float kMaxAngle = 39000;
HWY_INLINE V vsin(V x) {
    const V y = hn::IfThenElse(hn::Eq(x, k(0)), x, hn::Sin(D(), x));  // -0 stays -0
    return withinBound(x, kMaxAngle, y, [](float v) { return std::sin(v); });
}
HWY_INLINE V vcos(V x) {
    return withinBound(x, kMaxAngle, hn::Cos(D(), x), [](float v) { return std::cos(v); });
}
HWY_INLINE V vasin(V x) {
    return withinBound(x, 1, hn::Asin(D(), x), [](float v) { return std::asin(v); });
}
HWY_INLINE V vacos(V x) {
    return withinBound(x, 1, hn::Acos(D(), x), [](float v) { return std::acos(v); });
}
HWY_INLINE V vatan(V x) {
    return withinBound(x, 3e38f, hn::Atan(D(), x), [](float v) { return std::atan(v); });
}

// erf is x + x p(x^2) below 0.92 and 1 - e^q(x) above. The polynomials were fitted for this file (error 2e-8 and 5e-9).
HWY_INLINE V erfSmall(V x) {
    const V s = hn::Mul(x, x);
    V p = k(-0.00058824959f);
    p = hn::MulAdd(p, s, k(0.00497201597f));
    p = hn::MulAdd(p, s, k(-0.0267523583f));
    p = hn::MulAdd(p, s, k(0.112814315f));
    p = hn::MulAdd(p, s, k(-0.376124591f));
    p = hn::MulAdd(p, s, k(0.128379151f));
    return hn::MulAdd(p, x, x);
}
HWY_INLINE V erfcLarge(V t) {  // 0.9 <= t
    t = hn::Min(t, k(6));
    V p = k(1.42505462e-06f);
    p = hn::MulAdd(p, t, k(-4.18774689e-05f));
    p = hn::MulAdd(p, t, k(0.000561843102f));
    p = hn::MulAdd(p, t, k(-0.00459798519f));
    p = hn::MulAdd(p, t, k(0.0259707104f));
    p = hn::MulAdd(p, t, k(-0.10930685f));
    p = hn::MulAdd(p, t, k(-0.632622957f));
    p = hn::MulAdd(p, t, k(-1.12978327f));
    p = hn::MulAdd(p, t, k(0.000213403342f));
    return expNormal(p);
}
HWY_INLINE V verf(V x) {
    const D d;
    const V t = hn::Abs(x);
    const V large = hn::CopySignToAbs(hn::Sub(k(1), erfcLarge(t)), x);
    const V y = hn::IfThenElse(hn::Lt(t, k(0.92f)), erfSmall(x), large);
    return hn::IfThenElse(hn::Eq(x, x), y, hn::NaN(d));
}
// GELU by tanh (Hendrycks and Gimpel, arXiv 1606.08415). x/2 (1 + tanh u) is x sigmoid(2u), exact where the reference
// clamps its rational function; below -20 it is 0.
HWY_INLINE V vgeluTanh(V x) {
    const V held = limit::Max(k(-20), x);
    const V cubic = hn::MulAdd(hn::Mul(hn::Mul(held, held), held), k(0.044715f), held);
    const V exponent = limit::Min(k(88), hn::Mul(cubic, k(-1.59576912f)));
    return hn::Div(held, hn::Add(k(1), expUpTo88(exponent)));
}
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
// Returns a polynomial in r whose coefficients are in the tables, by power, at the index.
template <size_t Powers, size_t Entries>
HWY_INLINE V lookUpPolynomial(const float (&tables)[Powers][Entries], V index, V r) {
    V p = lookUp(tables[Powers - 1], index);
    HWY_UNROLL(8)
    for (size_t i = Powers - 1; i-- > 0;) p = hn::MulAdd(p, r, lookUp(tables[i], index));
    return p;
}
#endif
// GELU: x/2 (1 + erf(x/sqrt 2))
HWY_INLINE V vgelu(V x) {
#if HWY_TARGET == HWY_AVX3
    // The result is max(x, 0) minus a tail from a table, whose index is in the last bits of t + shifter. Beyond 7.75
    // the tail stays 4e-14.
    const V shifter = k(0x1.8p21f);
    const V t = limit::Min(k(7.75f), hn::Abs(x));
    const V sum = hn::Add(t, shifter);
    const V r = hn::Sub(t, hn::Sub(sum, shifter));
    return hn::Sub(limit::Max(k(0), x), lookUpPolynomial(kGeluTail, sum, r));
#elif HWY_TARGET == HWY_AVX2
    // The same with a table of fewer, longer polynomials. Beyond 6.5 the tail stays 3e-10.
    const V shifter = k(0x1.8p23f);
    const V t = limit::Min(k(6.5f), hn::Abs(x));
    const V sum = hn::MulAdd(t, k(8.0f / 7), shifter);
    const V r = hn::NegMulAdd(hn::Sub(sum, shifter), k(0.875f), t);
    return hn::Sub(limit::Max(k(0), x), lookUpPolynomial(kGeluTailOf8, sum, r));
#else
    // The negative tail uses erfc, so that no digits cancel.
    const V z = hn::Mul(x, k(0.707106781f));
    const V t = hn::Abs(z);
    const V tail = erfcLarge(t);
    const V large = hn::IfThenElse(hn::Lt(x, k(0)), tail, hn::Sub(k(2), tail));
    const V factor = hn::IfThenElse(hn::Lt(t, k(0.92f)), hn::Add(k(1), erfSmall(z)), large);
    return hn::Mul(hn::Mul(limit::Max(k(-20), x), k(0.5f)), factor);  // below -20 the tail stays 2e-17
#endif
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
