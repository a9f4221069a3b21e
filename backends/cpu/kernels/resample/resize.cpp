// Computes rows of nearest, linear and cubic resizing, with vectors along the channels of a block. Taps are added
// inside a row first, then across rows, each in ascending order.
#include "backends/cpu/kernels/resample/resize.h"

#include "backends/cpu/kernels/dispatch.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/resample/resize.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
constexpr size_t P = HWY_LANES(float);

void nearest(const ResizeRow& r) {
    const D d;
    const float* row = r.rows[0];
    for (int x = 0; x < r.outputs; ++x)
        hn::StoreU(hn::LoadU(d, row + static_cast<size_t>(r.index[x]) * P), d, r.dst + static_cast<size_t>(x) * P);
}

// ROWS is 0 where the number of rows, r.rowCount, is known only at run time.
template <int TAPS, int ROWS>
HWY_INLINE void blend(const ResizeRow& r) {
    const D d;
    const int rows = ROWS == 0 ? r.rowCount : ROWS;
    for (int x = 0; x < r.outputs; ++x) {
        const int32_t* index = r.index + static_cast<size_t>(x) * TAPS;
        const float* weight = r.weight + static_cast<size_t>(x) * TAPS;
        V total = hn::Zero(d);
        for (int y = 0; y < rows; ++y) {
            const float* row = r.rows[y];
            V across = hn::Mul(hn::LoadU(d, row + static_cast<size_t>(index[0]) * P), hn::Set(d, weight[0]));
            for (int t = 1; t < TAPS; ++t)
                across =
                    hn::MulAdd(hn::LoadU(d, row + static_cast<size_t>(index[t]) * P), hn::Set(d, weight[t]), across);
            const V scale = hn::Set(d, r.rowWeights[y]);
            total = y == 0 ? hn::Mul(across, scale) : hn::MulAdd(across, scale, total);
        }
        hn::StoreU(total, d, r.dst + static_cast<size_t>(x) * P);
    }
}

void linear(const ResizeRow& r) {
    if (r.rowCount == 2)
        blend<2, 2>(r);
    else
        blend<2, 0>(r);
}

void cubic(const ResizeRow& r) {
    if (r.rowCount == 4)
        blend<4, 4>(r);
    else
        blend<4, 0>(r);
}

}  // namespace

const ResizeKernels& resizeTable() {
    static constexpr ResizeKernels table = {static_cast<int>(P), nearest, linear, cubic};
    return table;
}

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mnnc {
const ResizeKernels& resizeKernels(Isa isa) {
    MNNC_SELECT(isa, resizeTable)
}
}  // namespace mnnc
#endif
