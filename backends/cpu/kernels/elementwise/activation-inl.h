// The activations of epilogues, in place. Included once per instruction set, hence the toggling guard.
#if defined(MNNC_ACTIVATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNNC_ACTIVATION_INL_H
#undef MNNC_ACTIVATION_INL_H
#else
#define MNNC_ACTIVATION_INL_H
#endif

#include <cmath>

#include "backends/cpu/kernels/elementwise/elementwise_math-inl.h"
#include "ir/epilogue.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

HWY_INLINE V vhardSigmoid(V x) {
    return hn::Mul(hn::Min(hn::Max(hn::Add(x, k(3)), k(0)), k(6)), k(1.0f / 6));
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
    forVectors(data, count, [&](V x) HWY_ATTR { return hn::Min(hn::Max(function(x), vlo), vhi); });
}

// data = min(max(act(data), lo), hi)
HWY_MAYBE_UNUSED HWY_NOINLINE void activate(float* data, size_t count, Act act, float lo, float hi) {
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
