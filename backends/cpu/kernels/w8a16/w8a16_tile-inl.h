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

// `value`: the sums of R pixels from `pixel` on, with the scales of their weights. The last blocks of weights have the
// minima `min` and the sums `blockSums`, unless those are null. Shift: the number that was subtracted from each
// activation.
template <int Shift, int R, int NB>
HWY_INLINE void finishScaled(const W8A16PanelArgs& t, V (&value)[R][NB], const float* min, const float* blockSums,
                             ptrdiff_t pixel, float* dst, const float* residual) {
    const D d;
    // Adds sum[r] times the minima.
    const auto addMinima = [&](const float* minima, const float* sum, ptrdiff_t step, float less) HWY_ATTR {
        HWY_UNROLL(4)
        for (int n = 0; n < NB; ++n) {
            const V each = hn::LoadU(d, minima + n * P);
            HWY_UNROLL(32)
            for (int r = 0; r < R; ++r) value[r][n] = hn::MulAdd(hn::Set(d, sum[r * step] - less), each, value[r][n]);
        }
    };
    if (blockSums) addMinima(min, blockSums, t.blocks, lacking<Shift>(t));
    const float* scales = t.pixelScale + pixel * t.pixelScaleStep;
    const float* offsets = t.pixelOffset + pixel * t.pixelScaleStep;
    float all = 0.0f;
    HWY_UNROLL(4)
    for (int n = 0; n < NB; ++n) {
        const V bias = hn::LoadU(d, t.bias + n * P), codeSum = hn::LoadU(d, t.codeSum + n * P);
        HWY_UNROLL(32)
        for (int r = 0; r < R; ++r) {
            const float x = scales[r * t.pixelScaleStep];
            if (n == 0) all += x;
            const V offset = hn::Set(d, offsets[r * t.pixelScaleStep] + (Shift ? static_cast<float>(Shift) * x : 0.0f));
            value[r][n] = hn::MulAdd(value[r][n], hn::Set(d, x), hn::MulAdd(offset, codeSum, bias));
        }
    }
    if (t.pixelSum) addMinima(t.min, t.pixelSum + pixel, 1, 0.0f);
    finishTile(t, value, dst, residual);
    if (HWY_UNLIKELY(all != all)) {  // the clamp has replaced NaN by numbers
        for (int r = 0; r < R; ++r) {
            const float x = scales[r * t.pixelScaleStep];
            if (x == x) continue;
            for (int n = 0; n < NB; ++n)
                hn::StoreU(hn::Set(d, x), d, dst + r * t.dstPixelStride + n * t.dstBlockStride);
        }
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
