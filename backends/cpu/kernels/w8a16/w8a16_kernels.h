// Products of 16-bit activations with weights of 8 or 4 bits. The functions run on one thread, allocate nothing and
// take pointers only.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/conv_types.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// One output panel (nb blocks of P output channels) over m output pixels:
//   out[r][j] = post(bias[j] + pixelScale[r] * scale[j] * sum + pixelOffset[r] * codeSum[j] + pixelSum[r] * min[j])
// with sum = sums over taps and channels of a * w, addressed as in PanelArgsOf. Channels come in pairs (of 4 bits in
// eights): where the tail is shorter, more are read, whose weights are zero.
//
// Of weights with several scales an output each block of channels has its own sum and scale, and in place of the
// pixelSum of the inputs the blockSums of the 16-bit numbers: pixelScale[r] * blockSums[r][block] * min[block][j].
struct W8A16PanelArgs {
    const int16_t* a;
    ptrdiff_t pixelStride;
    const ptrdiff_t* tapOffset;
    int taps;
    int fullBlocks;
    ptrdiff_t blockStride;
    int tail;
    // 8 bits: [tap][pair][nb][P][2]; 4 bits: [tap][group of four pairs][nb][P][2] 16-bit words with the codes of those
    // pairs, the first in the lowest bits. Where W8A16Kernels::together is 4, of 8 bits [tap][four][nb][P][4]; of 4
    // bits [tap][two fours][nb][P][4] bytes, the first four in the low halves.
    const int8_t* w;
    float* dst;
    ptrdiff_t dstPixelStride;
    ptrdiff_t dstBlockStride;
    const float* residual;                // strides of dst; null when none
    const float *bias, *scale, *codeSum;  // scale: [blocks][nb * P]
    const float* min;                     // [blocks][nb * P]; anything when there are no sums
    int blocks = 1;                       // of weights with a scale of their own
    int blockLength;                      // blocks of P channels in each; of one: more than there are
    const float* blockSums = nullptr;     // [m][blocks]
    const float* pixelScale;              // NaN makes the results NaN
    const float* pixelOffset;             // the float that a 16-bit 0 stands for
    int pixelScaleStep;                   // 0: all pixels share one of each
    const float* pixelSum;  // m sums of the inputs in a pixel's window; null when there are no minima, or blocks
    float lo, hi;
    Act act;
    int nb;
    int m;
    int lastLanes;
    const int8_t* next = nullptr;  // weights to prefetch; null: those behind w
};

// How 16-bit numbers stand for floats: x = q * scale + offset. Floats that are all positive use the whole
// range from -32768, others -32767 to 32767, with an offset of 0. All zeros where none reaches 1e-30; scale
// is NaN where one is not finite.
struct ActivationScale {
    float scale, offset, inverse;  // inverse: of scale
    int zero;                      // the 16-bit number for 0.0f
};

// A scale follows from the bits of the largest |x|, where infinity and NaN count as larger than all others,
// and from all signs joined by or.
struct ActivationRange {
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

using W8A16PanelFn = void (*)(const W8A16PanelArgs& args);

// Of weights of one number of bits.
struct W8A16Panels {
    int maxPanelBlocks;
    int maxRows[5];
    W8A16PanelFn panel;
};

struct W8A16Kernels {
    int together;  // codes of an output that lie side by side: 2 or 4
    W8A16Panels panels8, panels4;
    const W8A16Panels& panels(int bits) const { return bits == 8 ? panels8 : panels4; }
    void (*roundPixels)(const RoundPixelsArgs& args);
    // The range of `lanes` channels of a block of pixels.
    ActivationRange (*range)(const float* src, size_t pixels, int lanes);
    ActivationScale (*scale)(const ActivationRange& range);
    // Rounds `lanes` channels; the other lanes of dst are unspecified. Adds the channels' sum to each of
    // sum[pixels], unless it is null.
    void (*round)(const float* src, int pixels, int lanes, const ActivationScale& scale, int16_t* dst, float* sum);
};

const W8A16Kernels* w8a16Kernels(Isa isa);          // null where the CPU or this build has no such products
const W8A16Panels* w8a16Panels(Isa isa, int bits);  // the part of it that has a file of its own
const W8A16Kernels& w8a16ArmKernels();              // with the dot product of Arm
const W8A16Panels& w8a16ArmPanels(int bits);

}  // namespace mnnc
