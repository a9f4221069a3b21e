// Expands quantised weights to floats, whole vectors of output channels at a time.
#include "backends/cpu/kernels/conv_kernels.h"

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/dequant/dequant_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/elementwise/elementwise_math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

constexpr int P = static_cast<int>(kLanes);

HWY_INLINE V scaled(hn::Vec<hn::Rebind<int32_t, D>> code, V scale, V min) {
    return hn::MulAdd(hn::ConvertTo(D(), code), scale, min);
}

// Expands rows of NB vectors, written one after the other.
template <int NB, typename Code>
HWY_INLINE void dequantRows(int rows, const float* scale, const float* min, float* out, Code&& code) {
    const D d;
    V s[NB], m[NB];
    for (int n = 0; n < NB; ++n) {
        s[n] = hn::LoadU(d, scale + n * P);
        m[n] = hn::LoadU(d, min + n * P);
    }
    for (int r = 0; r < rows; ++r, out += NB * P)
        for (int n = 0; n < NB; ++n) hn::StoreU(scaled(code(r, n * P), s[n], m[n]), d, out + n * P);
}

template <typename Code>
HWY_INLINE void dequantWidth(int rows, int width, const float* scale, const float* min, float* out, Code&& code) {
    switch (width / P) {
        case 1:
            return dequantRows<1>(rows, scale, min, out, code);
        case 2:
            return dequantRows<2>(rows, scale, min, out, code);
        case 3:
            return dequantRows<3>(rows, scale, min, out, code);
        default:
            return dequantRows<4>(rows, scale, min, out, code);
    }
}

void dequantS8(const int8_t* codes, int rows, int width, const float* scale, const float* min, float* out) {
    const hn::Rebind<int32_t, D> d32;
    const hn::Rebind<int8_t, D> d8;
    dequantWidth(rows, width, scale, min, out, [&](int r, int j) HWY_ATTR {
        return hn::PromoteTo(d32, hn::LoadU(d8, codes + ptrdiff_t(r) * width + j));
    });
}

void dequantS4(const uint8_t* codes, int firstRow, int rows, int width, const float* scale, const float* min,
               float* out) {
    const hn::Rebind<int32_t, D> d32;
    const hn::Rebind<uint8_t, D> d8;
    const auto mask = hn::Set(d32, 15), middle = hn::Set(d32, 8);
    dequantWidth(rows, width, scale, min, out, [&](int r, int j) HWY_ATTR {
        const int row = firstRow + r;
        const auto both = hn::PromoteTo(d32, hn::LoadU(d8, codes + ptrdiff_t(row / 2) * width + j));
        return hn::Sub(row % 2 ? hn::ShiftRight<4>(both) : hn::And(both, mask), middle);
    });
}

}  // namespace

const DequantKernels& dequantKernelsTable() {
    static constexpr DequantKernels table = {&dequantS8, &dequantS4};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const DequantKernels& dequantKernels(Isa isa) {
    MNNC_SELECT(isa, dequantKernelsTable)
}
}  // namespace mnnc
#endif
