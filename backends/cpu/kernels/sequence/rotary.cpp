// The vector kernel of the rotation by position.
#include "backends/cpu/kernels/sequence/rotary.h"

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/sequence/rotary.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "backends/cpu/kernels/elementwise/elementwise_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// The factors of both halves stay in registers while all rows pass.
void rotate(const RotaryRows& r) {
    const size_t lanes = hn::Lanes(D());
    const V ofUpper = k(r.negatesUpper ? -0.0f : 0.0f), ofLower = k(r.negatesUpper ? 0.0f : -0.0f);
    for (size_t i = 0; i < r.half; i += lanes) {
        const size_t m = r.half - i < lanes ? r.half - i : lanes;
        const V lowerCos = loadSome(r.cosines + i, m, 0), upperCos = loadSome(r.cosines + r.half + i, m, 0);
        const V lowerSin = loadSome(r.sines + i, m, 0), upperSin = loadSome(r.sines + r.half + i, m, 0);
        for (size_t row = 0; row < r.rows; ++row) {
            const size_t at = row * 2 * r.half + i;
            const V lower = loadSome(r.x + at, m, 0), upper = loadSome(r.x + at + r.half, m, 0);
            const V first = hn::Add(hn::Mul(lower, lowerCos), hn::Mul(hn::Xor(upper, ofUpper), lowerSin));
            const V second = hn::Add(hn::Mul(upper, upperCos), hn::Mul(hn::Xor(lower, ofLower), upperSin));
            storeSome(first, r.y + at, m);
            storeSome(second, r.y + at + r.half, m);
        }
    }
}

}  // namespace

const RotaryKernels& rotaryTable() {
    static constexpr RotaryKernels table = {rotate};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const RotaryKernels& rotaryKernels(Isa isa) {
    MNNC_SELECT(isa, rotaryTable)
}
}  // namespace mnnc
#endif
