// Quantised weights to floats, whole vectors of output channels at a time.
#include "backends/cpu/kernels/conv_kernels.h"

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/expand_kernels.cpp"
// foreach_target.h must come first.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "backends/cpu/kernels/elementwise_math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

constexpr int P = static_cast<int>(kLanes);

HWY_INLINE V scaled(hn::Vec<hn::Rebind<int32_t, D>> code, V scale, V min) {
    return hn::MulAdd(hn::ConvertTo(D(), code), scale, min);
}

void bytes(const int8_t* codes, int rows, int width, const float* scale, const float* min, float* out) {
    const D d;
    const hn::Rebind<int32_t, D> d32;
    const hn::Rebind<int8_t, D> d8;
    for (int j = 0; j < width; j += P) {
        const V s = hn::LoadU(d, scale + j), m = hn::LoadU(d, min + j);
        const int8_t* from = codes + j;
        float* to = out + j;
        for (int r = 0; r < rows; ++r, from += width, to += width)
            hn::StoreU(scaled(hn::PromoteTo(d32, hn::LoadU(d8, from)), s, m), d, to);
    }
}

void nibbles(const uint8_t* codes, int firstRow, int rows, int width, const float* scale, const float* min,
             float* out) {
    const D d;
    const hn::Rebind<int32_t, D> d32;
    const hn::Rebind<uint8_t, D> d8;
    const auto mask = hn::Set(d32, 15), middle = hn::Set(d32, 8);
    for (int j = 0; j < width; j += P) {
        const V s = hn::LoadU(d, scale + j), m = hn::LoadU(d, min + j);
        float* to = out + j;
        for (int r = firstRow; r < firstRow + rows; ++r, to += width) {
            auto code = hn::PromoteTo(d32, hn::LoadU(d8, codes + ptrdiff_t(r / 2) * width + j));
            code = r % 2 ? hn::ShiftRight<4>(code) : hn::And(code, mask);
            hn::StoreU(scaled(hn::Sub(code, middle), s, m), d, to);
        }
    }
}

}  // namespace

const ExpandKernels& expandKernelsTable() {
    static constexpr ExpandKernels table = {&bytes, &nibbles};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const ExpandKernels& expandKernels(Isa isa) {
    MNNC_SELECT(isa, expandKernelsTable)
}
}  // namespace mnnc
#endif
