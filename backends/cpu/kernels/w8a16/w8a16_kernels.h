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
// If weights have several scales per output, each block of channels has its own sum and scale. The blockSums of the
// 16-bit numbers take the place of the pixelSum of the inputs: pixelScale[r] * blockSums[r][block] * min[block][j].
struct W8A16PanelArgs {
    const int16_t* a;
    ptrdiff_t pixelStride;
    const ptrdiff_t* tapOffset;
    int taps;
    int fullBlocks;
    ptrdiff_t blockStride;
    int tail;
    // 8 bits: [tap][pair][nb][P][2]; 4 bits: [tap][group of four pairs][nb][P][2] 16-bit words with the codes of those
    // pairs, the first in the lowest bits. Where W8A16Kernels::together is 4: 8 bits [tap][four][nb][P][4]; 4 bits
    // [tap][two fours][nb][P][4] bytes, the first four in the low halves.
    const int8_t* w;
    float* dst;
    ptrdiff_t dstPixelStride;
    ptrdiff_t dstBlockStride;
    const float* residual;                // with the strides of dst; null when none
    const float *bias, *scale, *codeSum;  // scale: [blocks][nb * P]
    const float* min;                     // [blocks][nb * P]; not read when there are no sums
    int blocks = 1;                       // of weights with their own scale
    int blockLength;                      // blocks of P channels in each; with a single block, more than exist
    const float* blockSums = nullptr;     // [m][blocks]
    const int32_t* rowStart = nullptr;    // SplitRowArgs::start, where a is the row of one
    const float* pixelScale;              // NaN makes the results NaN
    const float* pixelOffset;             // the float that the 16-bit number 0 represents
    int pixelScaleStep;                   // 0: all pixels share one scale and one offset
    const float* pixelSum;  // m sums of the inputs in a pixel's window; null when there are no minima, or blocks
    float lo, hi;
    Act act;
    int nb;
    int m;
    int lastLanes;
    const int8_t* next = nullptr;  // weights to prefetch; null: those behind w
};

// The floats that 16-bit numbers represent: x = q * scale + offset. Floats that are all positive use the whole range
// from -32768, others -32767 to 32767, with an offset of 0. If no float reaches 1e-30, all numbers are zero; if one is
// not finite, scale is NaN.
struct ActivationScale {
    float scale, offset, inverse;  // inverse: of scale
    int zero;                      // the 16-bit number for 0.0f
};

// A scale follows from the bits of the largest |x|, where infinity and NaN count as larger than all others, and from
// the bitwise or of all signs.
struct ActivationRange {
    uint32_t largest = 0, signs = 0;
};

// The arguments for pixels with their own scale.
struct RoundPixelsArgs {
    const float* src;
    ptrdiff_t pixelStride, blockStride;
    int pixels, channels;
    int16_t* dst;  // [block][dstBlockStride / P pixels][P]; lanes past the last channel may hold anything
    ptrdiff_t dstBlockStride;
    float *scale, *offset;
    float* sum;  // of a pixel's channels; null when not needed
};

// Returns how many blocks of 16 channels have products that fit a sum of 32 bits: 31 x 16 x 32768 x 128 < 2^31, and
// with 4 bits 8 instead of 128.
constexpr int w8a16ExactBlocks(int bits) {
    return bits == 8 ? 31 : 496;
}

using W8A16PanelFn = void (*)(const W8A16PanelArgs& args);

// The panel kernels for weights of one number of bits.
struct W8A16Panels {
    int maxPanelBlocks;
    int maxRows[5];
    W8A16PanelFn panel;
};

// A pixel whose 16-bit numbers are replaced by their bytes, for kernels that multiply those.
struct SplitRowArgs {
    int16_t* row;  // [blocks][blockLength][P]
    int blocks, blockLength;
    int32_t* start;  // [blocks]: the initial value of the sum of a block's products
};

// Products of a single pixel by weights of 4 bits in the order of the panels.
struct W8A16RowKernels {
    void (*split)(const SplitRowArgs& args);
    W8A16PanelFn panel;
};

struct W8A16MatrixKernels;  // w8a16_matrix.h

struct W8A16Kernels {
    int together;  // codes of an output that are contiguous: 2 or 4
    W8A16Panels panels8, panels4;
    const W8A16Panels& panels(int bits) const { return bits == 8 ? panels8 : panels4; }
    void (*roundPixels)(const RoundPixelsArgs& args);
    // Returns the range of `lanes` channels of a block of pixels.
    ActivationRange (*range)(const float* src, size_t pixels, int lanes);
    ActivationScale (*scale)(const ActivationRange& range);
    // Rounds `lanes` channels; the other lanes of dst are unspecified. Adds the channels' sum to each of sum[pixels],
    // unless it is null.
    void (*round)(const float* src, int pixels, int lanes, const ActivationScale& scale, int16_t* dst, float* sum);
    // Returns the kernels for many pixels; null: there are none.
    const W8A16MatrixKernels* (*matrix)() = nullptr;
    const W8A16RowKernels* row = nullptr;  // null: the panel kernels compute single pixels, too
};

const W8A16Kernels* w8a16Kernels(Isa isa);          // null where the CPU or this build has no such products
const W8A16Panels* w8a16Panels(Isa isa, int bits);  // the part for one number of bits, which has a file of its own
const W8A16Kernels& w8a16Avx2Kernels();
const W8A16RowKernels& w8a16Avx2RowKernels();
const W8A16Kernels& w8a16ArmKernels();  // with the dot product of Arm
const W8A16Panels& w8a16ArmPanels(int bits);

}  // namespace mnnc
