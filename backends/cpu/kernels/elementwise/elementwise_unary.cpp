// Vector kernels of one input: UnaryOp codes, activations and per-channel scaling.
#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/elementwise/elementwise.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/elementwise/elementwise_unary.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "backends/cpu/kernels/elementwise/activation-inl.h"
#include "backends/cpu/kernels/elementwise/elementwise_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// The body of every kernel. The last, partial vector is copied to the stack, so that all elements see the same
// arithmetic.
template <class F>
HWY_INLINE void map(const float* x, float* y, size_t n, const F& f) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(f(hn::LoadU(d, x + i), i), d, y + i);
    if (i < n) storeSome(f(loadSome(x + i, n - i, 1.0f), i), y + i, n - i);
}

#define MNNC_UNARY(Name, expression)                                      \
    struct Name {                                                         \
        HWY_INLINE V operator()(V x, size_t) const { return expression; } \
    };
MNNC_UNARY(Abs, hn::Abs(x))
MNNC_UNARY(Neg, hn::Neg(x))
MNNC_UNARY(Floor, hn::Floor(x))
MNNC_UNARY(Ceil, hn::Ceil(x))
MNNC_UNARY(Square, hn::Mul(x, x))
MNNC_UNARY(Sqrt, hn::Sqrt(x))
MNNC_UNARY(Rsqrt, hn::Div(k(1), hn::Sqrt(x)))
MNNC_UNARY(ExpFn, vexp(x))
MNNC_UNARY(LogFn, vlog(x))
MNNC_UNARY(Reciprocal, hn::Div(k(1), x))
MNNC_UNARY(Log1pFn, vlog1p(x))
MNNC_UNARY(Softplus, hn::Add(limit::Max(k(0), x), vlog1p(expUpTo88(hn::Neg(hn::Abs(x))))))
MNNC_UNARY(Sign, hn::IfThenElseZero(hn::Ne(x, k(0)), hn::IfThenElseZero(hn::Eq(x, x), hn::CopySign(k(1), x))))
MNNC_UNARY(RoundEven, hn::Round(x))
MNNC_UNARY(SinFn, vsin(x))
MNNC_UNARY(CosFn, vcos(x))
MNNC_UNARY(AsinFn, vasin(x))
MNNC_UNARY(AcosFn, vacos(x))
MNNC_UNARY(AtanFn, vatan(x))
MNNC_UNARY(ErfFn, verf(x))
MNNC_UNARY(Expm1Fn, vexpm1(x))
MNNC_UNARY(Sigmoid, vsigmoid(x))
MNNC_UNARY(TanhFn, vtanh(x))
MNNC_UNARY(HardSwish, hn::Div(hn::Mul(x, limit::clamp(hn::Add(x, k(3)), k(0), k(6))), k(6)))
MNNC_UNARY(GeluErf, vgelu(x))
MNNC_UNARY(GeluTanh, vgeluTanh(x))
MNNC_UNARY(Silu, vsilu(x))
#undef MNNC_UNARY

template <class F>
void unary(const float* x, float* y, size_t n) {
    map(x, y, n, F());
}

struct Leaky {
    V slope;
    HWY_INLINE V operator()(V x, size_t) const { return hn::IfThenElse(hn::Lt(x, k(0)), hn::Mul(x, slope), x); }
};
struct Relu {  // apart from Leaky, because 0 times -infinity is NaN
    HWY_INLINE V operator()(V x, size_t) const { return hn::IfThenZeroElse(hn::Lt(x, k(0)), x); }
};
struct LeakyEach {
    const float* slopes;
    size_t n;
    HWY_INLINE V operator()(V x, size_t i) const {
        return hn::IfThenElse(hn::Lt(x, k(0)), hn::Mul(x, loadSome(slopes + i, n - i, 0)), x);
    }
};
struct Clip {
    V lo, hi;
    HWY_INLINE V operator()(V x, size_t) const { return limit::clamp(x, lo, hi); }
};
struct Elu {
    V alpha, scale;
    HWY_INLINE V operator()(V x, size_t) const {
        return hn::Mul(scale, hn::IfThenElse(hn::Gt(x, k(0)), x, hn::Mul(alpha, vexpm1(x))));
    }
};
struct Threshold {
    V limit;
    HWY_INLINE V operator()(V x, size_t) const { return hn::IfThenElseZero(hn::Gt(x, limit), k(1)); }
};
struct Affine {
    V scale, bias;
    HWY_INLINE V operator()(V x, size_t) const { return hn::MulAdd(x, scale, bias); }
};
struct AffineEach {
    const float* scale;
    const float* bias;
    size_t n;
    HWY_INLINE V operator()(V x, size_t i) const {
        return hn::MulAdd(x, loadSome(scale + i, n - i, 0), loadSome(bias + i, n - i, 0));
    }
};

void leaky(const float* x, float* y, size_t n, float slope) {
    if (slope == 0) return map(x, y, n, Relu{});
    map(x, y, n, Leaky{k(slope)});
}
void clip(const float* x, float* y, size_t n, float lo, float hi) {
    map(x, y, n, Clip{k(lo), k(hi)});
}
void elu(const float* x, float* y, size_t n, float alpha, float scale) {
    map(x, y, n, Elu{k(alpha), k(scale)});
}
void threshold(const float* x, float* y, size_t n, float limit) {
    map(x, y, n, Threshold{k(limit)});
}
void leakyLanes(const float* x, float* y, size_t n, const float* slopes) {
    map(x, y, n, Leaky{hn::LoadU(D(), slopes)});
}
void leakyEach(const float* x, float* y, size_t n, const float* slopes) {
    map(x, y, n, LeakyEach{slopes, n});
}
void affine(const float* x, float* y, size_t n, float scale, float bias) {
    map(x, y, n, Affine{k(scale), k(bias)});
}
void affineLanes(const float* x, float* y, size_t n, const float* scale, const float* bias) {
    map(x, y, n, Affine{hn::LoadU(D(), scale), hn::LoadU(D(), bias)});
}
void affineEach(const float* x, float* y, size_t n, const float* scale, const float* bias) {
    map(x, y, n, AffineEach{scale, bias, n});
}

HWY_INLINE V vhardSigmoid(V x) {
    return hn::Mul(limit::clamp(hn::Add(x, k(3)), k(0), k(6)), k(1.0f / 6));
}

template <typename Function>
HWY_INLINE void forVectors(float* data, size_t count, Function&& function) {
    const D d;
    const size_t whole = count - count % kLanes;
    for (size_t i = 0; i < whole; i += kLanes) hn::StoreU(function(hn::LoadU(d, data + i)), d, data + i);
    if (whole < count) storeSome(function(loadSome(data + whole, count - whole, 0)), data + whole, count - whole);
}

template <typename Function>
HWY_INLINE void activateWith(float* data, size_t count, float lo, float hi, Function&& function) {
    if (lo == -INFINITY && hi == INFINITY) return forVectors(data, count, function);
    const V vlo = k(lo), vhi = k(hi);
    forVectors(data, count, [&](V x) HWY_ATTR { return limit::clamp(function(x), vlo, vhi); });
}

}  // namespace

void activate(float* data, size_t count, Act act, float lo, float hi) {
    switch (act) {
        case Act::HardSwish:
            return activateWith(data, count, lo, hi, [](V x) HWY_ATTR { return hn::Mul(x, vhardSigmoid(x)); });
        case Act::Silu:
            return activateWith(data, count, lo, hi, [](V x) HWY_ATTR { return vsilu(x); });
        case Act::Gelu:
            return activateWith(data, count, lo, hi, [](V x) HWY_ATTR { return vgelu(x); });
        case Act::Sigmoid:
            return activateWith(data, count, lo, hi, [](V x) HWY_ATTR { return vsigmoid(x); });
        case Act::HardSigmoid:
            return activateWith(data, count, lo, hi, [](V x) HWY_ATTR { return vhardSigmoid(x); });
        case Act::Tanh:
            return activateWith(data, count, lo, hi, [](V x) HWY_ATTR { return vtanh(x); });
        case Act::GeluTanh:
            return activateWith(data, count, lo, hi, [](V x) HWY_ATTR { return vgeluTanh(x); });
        case Act::None:
            return activateWith(data, count, lo, hi, [](V x) HWY_ATTR { return x; });
    }
}

const UnaryKernels& unaryTable() {
    static constexpr UnaryKernels table = {
        {
            unary<Abs>,     unary<Neg>,       unary<Floor>,  unary<Ceil>,       unary<Square>,   unary<Sqrt>,
            unary<Rsqrt>,   unary<ExpFn>,     unary<LogFn>,  unary<SinFn>,      unary<CosFn>,    nullptr /* tan */,
            unary<AsinFn>,  unary<AcosFn>,    unary<AtanFn>, unary<Reciprocal>, unary<Log1pFn>,  unary<Softplus>,
            nullptr,        nullptr,          nullptr,       nullptr,  // acosh, sinh, asinh, atanh
            unary<Sign>,    unary<RoundEven>,
            nullptr,                                    // cosh
            unary<ErfFn>,   nullptr,          nullptr,  // erfc, erfinv
            unary<Expm1Fn>, unary<Sigmoid>,   unary<TanhFn>, unary<HardSwish>,  unary<GeluTanh>, unary<GeluErf>,
            unary<Silu>,
        },
        activate,
        leaky,
        clip,
        elu,
        threshold,
        leakyLanes,
        leakyEach,
        affine,
        affineLanes,
        affineEach,
    };
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const UnaryKernels& unaryKernels(Isa isa) {
    MNNC_SELECT(isa, unaryTable)
}
}  // namespace mnnc
#endif
