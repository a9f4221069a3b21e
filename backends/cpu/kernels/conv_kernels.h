// The tables of kernels for convolutions and matrix products, one for each instruction set; those of bf16 and fp16
// exist only where the set has such products. Kernels run on one thread, allocate nothing and take pointers only.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/conv_types.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// One output panel (nb blocks of P output channels) over m output pixels:
//   out[r][j] = post(bias[j] + sum over taps t, channels k: a[r*pixelStride + tapOffset[t] + at(k)] * w[t][k][j])
// where at(k) = (k / P) * blockStride + k % P, k < fullBlocks * P + tail.
// T is float, or uint16_t for 16-bit numbers: then w holds pairs, w[t][k / 2][j][k % 2], and where the tail is not a
// multiple of four, the elements of a up to that multiple are read, too. They must be finite, since their weights are
// zero.
template <typename T>
struct PanelArgsOf {
    const T* a;
    ptrdiff_t pixelStride;
    const ptrdiff_t* tapOffset;
    int taps;
    int fullBlocks;
    ptrdiff_t blockStride;
    int tail;
    const T* w;
    float* dst;
    ptrdiff_t dstPixelStride;
    ptrdiff_t dstBlockStride;
    const float* residual;  // with the strides of dst; null when none
    const float* bias;      // nb * P floats, never null
    float lo, hi;
    Act act;
    int nb;                       // 1 .. maxPanelBlocks
    int m;                        // pixels
    int lastLanes;                // channels of the last block that are stored: P, or fewer for a row-major output
    const T* next = nullptr;      // weights to prefetch; null: the weights behind w, which belong to the next panel
    const int* tapRun = nullptr;  // the run of the weights that each tap takes; null: one after another
    // One pixel by two panels of nb blocks: weights, bias and results of the second one follow those of the first,
    // whose last block is stored as a whole. Only for floats, without tapRun.
    bool pair = false;
    bool fetchDst = false;  // dst is in no cache: the lines of a tile are requested before its sums begin
};
using PanelArgs = PanelArgsOf<float>;
using Bf16PanelArgs = PanelArgsOf<uint16_t>;

// The depthwise convolution of one channel block.
struct DepthwiseArgs {
    const float* src;  // ih x iw x P
    float* dst;        // oh x ow x P
    const float* residual;
    const float* w;     // [kh*kw][P]
    const float* bias;  // P floats, never null
    const ConvShape* shape;
    float lo, hi;
    Act act;
    int rowBegin, rowEnd;  // output rows
};

// A few outputs of one group over consecutive pixels of its planes.
struct GroupedArgs {
    const float* planes;      // of the group's first channel
    ptrdiff_t channelStride;  // from one channel's planes to the next one's
    const ptrdiff_t* tapOffset;
    int taps;
    int channels;
    const float* w;     // [channels][taps][outputs]
    const float* bias;  // outputs
    int outputs;        // a power of two, at most maxOutputs
    float* dst;         // a plane per output
    ptrdiff_t dstStride;
    int length;  // pixels; whole vectors are read and written
};

struct PanelKernels {
    int lanes;
    int maxPanelBlocks;
    int maxRows[5];  // best tile height for a panel of nb blocks; 0 where there is no such tile
    void (*panel)(const PanelArgs& args);
};

// Products of pairs of bf16 with fp32 sums; or products of fp16, on an Arm CPU that only has arithmetic for fp16.
struct Bf16Kernels {
    void (*panel)(const Bf16PanelArgs& args);  // with the tile sizes of PanelKernels
    // Rounds n contiguous floats to `type`, ties to even.
    void (*convert)(const float* src, size_t n, uint16_t* dst);
    // Rounds `pixels` blocks of P floats, pixelStride apart, whose first `lanes` are valid. dst gets contiguous whole
    // blocks, with zeros in the other lanes.
    void (*convertBlock)(const float* src, ptrdiff_t pixelStride, int pixels, int lanes, uint16_t* dst);
    // Rounds two rows of `width` floats, a multiple of P, to pairs.
    void (*interleave)(const float* even, const float* odd, int width, uint16_t* dst);
    const char* type = "bf16";  // or "fp16"
};

// Expands quantised weights to floats: out[r][j] = code[r][j] * scale[j] + min[j], j < width, a multiple of P.
struct DequantKernels {
    void (*s8)(const int8_t* codes, int rows, int width, const float* scale, const float* min, float* out);
    // Two rows share a row of bytes, as code + 8; the even row is in the low halves. `codes` is the address of row 0.
    void (*s4)(const uint8_t* codes, int firstRow, int rows, int width, const float* scale, const float* min,
               float* out);
};

struct DepthwiseKernels {
    void (*forward)(const DepthwiseArgs& args);
    void (*transposed)(const DepthwiseArgs& args);
};

struct GroupedKernels {
    int maxOutputs;
    void (*product)(const GroupedArgs& args);
};

const PanelKernels& panelKernels(Isa isa);
const Bf16Kernels* bf16Kernels(Isa isa);  // null where this build has none; it does not check the CPU
const Bf16Kernels* fp16Kernels(Isa isa);  // the same
const DequantKernels& dequantKernels(Isa isa);
const DepthwiseKernels& depthwiseKernels(Isa isa);
const GroupedKernels& groupedKernels(Isa isa);
const PackKernels& packKernels(Isa isa);

}  // namespace mnnc
