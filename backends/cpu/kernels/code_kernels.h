// Products of 16-bit activations with the int8 codes of quantised weights. Single-threaded, no allocation,
// pointers only.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// One output panel (nb blocks of P output channels) over m output pixels:
//   out[r][j] = post(bias[j] + pixelScale[r] * scale[j] * sum + pixelOffset[r] * codeSum[j] + pixelSum[r] * min[j])
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
    const float *bias, *scale, *codeSum;
    const float* min;          // null when none
    const float* pixelScale;   // NaN where the results shall be
    const float* pixelOffset;  // what a 16-bit 0 stands for
    int pixelScaleStep;        // 0: all pixels share one of each
    const float* pixelSum;     // m sums of what a pixel's window holds, where there is a min
    float lo, hi;
    Act act;
    int nb;
    int m;
    int lastLanes;
    const int8_t* next = nullptr;  // what to fetch meanwhile; null: what follows w
};

// How 16-bit numbers stand for floats: x = q * scale + offset. Floats that are all positive use the whole range
// from -32768, others -32767 to 32767, with an offset of 0. All zeros where none reaches 1e-30; scale is NaN where
// one is not finite.
struct CodeScale {
    float scale, offset, inverse;  // inverse: of scale
    int zero;                      // what 0 becomes
};

// What a scale follows from: the bits of the largest |x|, where infinity and what is not a number count as larger
// than all others, and of all signs.
struct CodeRange {
    uint32_t largest = 0, signs = 0;
};

// Pixels with a scale of their own.
struct RoundPixelsArgs {
    const float* src;
    ptrdiff_t pixelStride, blockStride;
    int pixels, channels;
    int16_t* dst;  // [block][dstBlockStride / P pixels][P], anything in the lanes past the last channel
    ptrdiff_t dstBlockStride;
    float *scale, *offset;
    float* sum;  // of a pixel's channels; null when not wanted
};

struct CodeKernels {
    void (*panel)(const CodePanelArgs& args);  // tiles as PanelKernels has them
    void (*roundPixels)(const RoundPixelsArgs& args);
    // Of `lanes` channels of a block of pixels.
    CodeRange (*range)(const float* src, size_t pixels, int lanes);
    CodeScale (*scale)(const CodeRange& range);
    // `lanes` channels, anything in the others. Adds the channels' sum to each of sum[pixels], unless it is null.
    void (*round)(const float* src, int pixels, int lanes, const CodeScale& scale, int16_t* dst, float* sum);
};

const CodeKernels* codeKernels(Isa isa);  // null where the CPU or this build has no such products

}  // namespace mnnc
