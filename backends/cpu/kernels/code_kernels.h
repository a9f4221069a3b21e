// Products of 16-bit activations with the int8 codes of quantised weights. Single-threaded, no allocation,
// pointers only.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// One output panel (nb blocks of P output channels) over m output pixels:
//   out[r][j] = post(bias[j] + pixelScale[r] * scale[j] * sum + pixelSum[r] * min[j])
// with sum = sums over taps and channels of a * w, addressed as in PanelArgsOf. Channels come in pairs: where
// the tail is odd one more is read, whose codes are zero.
struct CodePanelArgs {
    const int16_t* a;
    ptrdiff_t pixelStride;
    const ptrdiff_t* tapOffset;
    int taps;
    int fullBlocks;
    ptrdiff_t blockStride;
    int tail;
    const int8_t* w;  // [tap][pair][nb][P][2]
    float* dst;
    ptrdiff_t dstPixelStride;
    ptrdiff_t dstBlockStride;
    const float* residual;  // strides of dst; null when none
    const float *bias, *scale;
    const float* min;         // null when none
    const float* pixelScale;  // NaN where the results shall be
    int pixelScaleStep;       // 0: all pixels share one
    const float* pixelSum;    // m sums of what a pixel's window holds, where there is a min
    float lo, hi;
    Act act;
    int nb;
    int m;
    int lastLanes;
    const int8_t* next = nullptr;  // what to fetch meanwhile; null: what follows w
};

// Pixels with a scale of their own: scale = largest |x| of the pixel / 32767, dst = x / scale.
struct RoundPixelsArgs {
    const float* src;
    ptrdiff_t pixelStride, blockStride;
    int pixels, channels;
    int16_t* dst;  // [block][dstBlockStride / P pixels][P], zeros in the lanes past the last channel
    ptrdiff_t dstBlockStride;
    float* scale;
    float* sum;  // of a pixel's channels; null when not wanted
};

// The scale of 16-bit numbers, and its inverse.
struct CodeScale {
    float scale, inverse;
};

struct CodeKernels {
    void (*panel)(const CodePanelArgs& args);  // tiles as PanelKernels has them
    void (*roundPixels)(const RoundPixelsArgs& args);
    // The bits of the largest |x| among `lanes` channels of a block of pixels. Infinity and what is not a
    // number count as larger than all others.
    uint32_t (*largest)(const float* src, size_t pixels, int lanes);
    // The scale for values up to that one. All zeros where none reaches 1e-30; NaN for what is not finite.
    CodeScale (*scale)(uint32_t largest);
    // dst = x * inverse of `lanes` channels, zeros in the others. Adds the channels' sum to each of sum[pixels],
    // unless it is null.
    void (*round)(const float* src, int pixels, int lanes, float inverse, int16_t* dst, float* sum);
};

const CodeKernels* codeKernels(Isa isa);  // null where the CPU or this build has no such products

}  // namespace mnnc
