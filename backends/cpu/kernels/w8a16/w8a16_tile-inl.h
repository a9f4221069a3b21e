// The end of a tile of W8A16 products. It is included once per instruction set, hence the toggling guard.
#if defined(MNNC_W8A16_TILE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNNC_W8A16_TILE_INL_H
#undef MNNC_W8A16_TILE_INL_H
#else
#define MNNC_W8A16_TILE_INL_H
#endif

#include "backends/cpu/kernels/gemm/panel_tile-inl.h"
#include "backends/cpu/kernels/w8a16/w8a16_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {
namespace {

// Returns the difference between the sum of a block of activations and the sum of the numbers that the products used.
template <int Shift>
HWY_INLINE float lacking(const W8A16PanelArgs& t) {
    return Shift ? static_cast<float>(Shift) * static_cast<float>(P) * static_cast<float>(t.blockLength) : 0.0f;
}

// Finishes a tile of `count` pixels from `pixel` on by NB vectors. `rows`: their sums with the scales of their weights,
// one pixel after another. The last blocks of weights have the minima `min` and the sums `blockSums`, unless those are
// null. Shift: the number that was subtracted from each activation. The pixels are a loop, and all tiles of a width
// call this function: unrolled in each tile it would be most of the code.
template <int Shift, int NB>
HWY_NOINLINE void finishRows(const W8A16PanelArgs& t, float* rows, int count, const float* min, const float* blockSums,
                             ptrdiff_t pixel, float* dst, const float* residual) {
    const D d;
    const ptrdiff_t ps = t.dstPixelStride;
    const float* scales = t.pixelScale + pixel * t.pixelScaleStep;
    const float* offsets = t.pixelOffset + pixel * t.pixelScaleStep;
    float all = 0.0f;
    for (int r = 0; r < count; ++r) {
        const float x = scales[r * t.pixelScaleStep];
        all += x;
        const V scale = hn::Set(d, x);
        const V offset = hn::Set(d, offsets[r * t.pixelScaleStep] + (Shift ? static_cast<float>(Shift) * x : 0.0f));
        V value[1][NB];
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) {
            V sum = hn::Load(d, rows + (r * NB + n) * P);
            if (blockSums)
                sum =
                    hn::MulAdd(hn::Set(d, blockSums[r * t.blocks] - lacking<Shift>(t)), hn::LoadU(d, min + n * P), sum);
            const V shifted = hn::MulAdd(offset, hn::LoadU(d, t.codeSum + n * P), hn::LoadU(d, t.bias + n * P));
            value[0][n] = hn::MulAdd(sum, scale, shifted);
            if (t.pixelSum)
                value[0][n] = hn::MulAdd(hn::Set(d, t.pixelSum[pixel + r]), hn::LoadU(d, t.min + n * P), value[0][n]);
        }
        if (t.act == Act::None) {
            storeTile(t, value, dst + r * ps, residual ? residual + r * ps : nullptr);
        } else {
            HWY_UNROLL(4)
            for (int n = 0; n < NB; ++n) hn::Store(value[0][n], d, rows + (r * NB + n) * P);
        }
    }
    if (t.act != Act::None) finishActivated(t, rows, count, dst, residual);
    if (HWY_UNLIKELY(all != all)) {  // the clamp has replaced NaN by numbers
        for (int r = 0; r < count; ++r) {
            const float x = scales[r * t.pixelScaleStep];
            if (x == x) continue;
            for (int n = 0; n < NB; ++n) hn::StoreU(hn::Set(d, x), d, dst + r * ps + n * t.dstBlockStride);
        }
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
