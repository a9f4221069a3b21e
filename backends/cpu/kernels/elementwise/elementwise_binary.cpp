// Vector kernels of two float inputs. Codes that need libm or integers are in elementwise_scalar.cpp.
#include "backends/cpu/kernels/dispatch.h"
#include "backends/cpu/kernels/elementwise/elementwise.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/elementwise/elementwise_binary.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "backends/cpu/kernels/elementwise/elementwise_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

struct Each {
    const float* p;
    HWY_INLINE V at(size_t i) const { return hn::LoadU(D(), p + i); }
    HWY_INLINE V some(size_t i, size_t count) const { return loadSome(p + i, count, 1.0f); }
};
struct Fixed {  // one value, or one repeating vector
    V v;
    HWY_INLINE V at(size_t) const { return v; }
    HWY_INLINE V some(size_t, size_t) const { return v; }
};

template <class F, class A, class B>
HWY_INLINE void loop(const A& a, const B& b, float* y, size_t n) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(F::run(a.at(i), b.at(i)), d, y + i);
    if (i < n) storeSome(F::run(a.some(i, n - i), b.some(i, n - i)), y + i, n - i);
}

HWY_INLINE Fixed fixed(const float* p, Elements mode) {
    return {mode == Elements::One ? k(*p) : hn::LoadU(D(), p)};
}

template <class F>
void binary(const void* a, Elements aMode, const void* b, Elements bMode, void* y, size_t n) {
    const float* fa = static_cast<const float*>(a);
    const float* fb = static_cast<const float*>(b);
    float* fy = static_cast<float*>(y);
    if (aMode != Elements::Each) return loop<F>(fixed(fa, aMode), Each{fb}, fy, n);
    if (bMode != Elements::Each) return loop<F>(Each{fa}, fixed(fb, bMode), fy, n);
    loop<F>(Each{fa}, Each{fb}, fy, n);
}

#define MNNC_BINARY(Name, expression)                            \
    struct Name {                                                \
        static HWY_INLINE V run(V a, V b) { return expression; } \
    };
MNNC_BINARY(Add, hn::Add(a, b))
MNNC_BINARY(Sub, hn::Sub(a, b))
MNNC_BINARY(Mul, hn::Mul(a, b))
MNNC_BINARY(Div, hn::Div(a, b))
MNNC_BINARY(Minimum, minimum(a, b))
MNNC_BINARY(Maximum, maximum(a, b))
MNNC_BINARY(SquaredDifference, hn::Mul(hn::Sub(a, b), hn::Sub(a, b)))
MNNC_BINARY(MulSilu, hn::Mul(a, vsilu(b)))
#undef MNNC_BINARY
// Comparisons store int32 1 or 0 in the bits of the result.
#define MNNC_COMPARE(Name, condition)                                             \
    struct Name {                                                                 \
        static HWY_INLINE V run(V a, V b) {                                       \
            const D d;                                                            \
            const hn::RebindToSigned<D> di;                                       \
            return hn::IfThenElseZero(condition, hn::BitCast(d, hn::Set(di, 1))); \
        }                                                                         \
    };
MNNC_COMPARE(Greater, hn::Gt(a, b))
MNNC_COMPARE(GreaterEqual, hn::Ge(a, b))
MNNC_COMPARE(Less, hn::Lt(a, b))
MNNC_COMPARE(LessEqual, hn::Le(a, b))
MNNC_COMPARE(Equal, hn::Eq(a, b))
MNNC_COMPARE(NotEqual, hn::Not(hn::Eq(a, b)))  // hn::Ne() is false for NaN with AVX2 and AVX-512
#undef MNNC_COMPARE

void reluFloat(float* y, size_t n) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes) hn::StoreU(limit::Max(k(0), hn::LoadU(d, y + i)), d, y + i);
    if (i < n) storeSome(limit::Max(k(0), loadSome(y + i, n - i, 0)), y + i, n - i);
}

}  // namespace

const BinaryKernels& binaryTable() {
    static constexpr BinaryKernels table = {
        {
            binary<Add>,     binary<Sub>,       binary<Mul>,
            nullptr,         nullptr,           nullptr,
            nullptr,         binary<Div>,       binary<Minimum>,
            binary<Maximum>, binary<Greater>,   binary<GreaterEqual>,
            binary<Less>,    nullptr,           binary<SquaredDifference>,
            binary<Equal>,   binary<LessEqual>, nullptr,
            nullptr,         nullptr,           nullptr,
            nullptr,         binary<NotEqual>,  nullptr,
            nullptr,         nullptr,           nullptr,
            nullptr,         nullptr,           binary<MulSilu>,
        },
        reluFloat,
    };
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const BinaryKernels& binaryKernels(Isa isa) {
    MNNC_SELECT(isa, binaryTable)
}
}  // namespace mnnc
#endif
