// The functions that every instruction set implements for int8 execution. They run on one thread, allocate nothing and
// take pointers only.
//
// Products take activations as x + 128, because the products of x86 need unsigned ones: as bytes in fours where the CPU
// has VNNI, else as 16-bit numbers in pairs ("unit" is the number of bytes). The products of Arm are signed: they take
// the bytes unchanged ("zero" is 0), and sums begin with 128 times the sum of the weights. AVX2 without VNNI does the
// same with codes that are not negative. Sums are exact integers, and the operations that follow are rounded one by
// one, so every instruction set gives the same bits.
#pragma once
#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/conv_types.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/resample/pooling.h"

namespace mnnc {

// One output panel (nb blocks of P output channels) over m output pixels. With sum = sums over taps and
// channels of (x + 128) * w, the result is round(sum * scale[j] * ratio + pixelSums[r] * min[j] + offset[j]),
// halves away from zero, between lo and hi, which are integers unless the results are floats. Strides and offsets count
// bytes.
struct Int8PanelArgs {
    const char* a;
    ptrdiff_t pixelStride;
    const ptrdiff_t* tapOffset;
    int taps;
    int fullBlocks, fullSteps;  // a step is four bytes of one pixel
    ptrdiff_t blockStride;
    int tailSteps;  // of a last block that is not full
    // Order in memory: [tap][block][step][nb][P][4 bytes] (for pairs see Int8Kernels::pairsApart), or [tap][step
    // pair][nb][P][2 steps][4 bytes] where Int8Kernels::stepsTogether is 2. Where Int8Kernels::zero is 0, 128 times the
    // sums of the weights follow, [nb][P] numbers of 32 bits; with Int8Product::Bytes also a byte for every two steps
    // of a tap, which is not zero where their sums fit 16 bits (fitTogether).
    const char* w;
    int8_t* dst;
    float* floats;  // if not null, the unrounded results go here instead of to dst; it has dst's strides, in elements
    int32_t* sums;  // if not null, the sums themselves, which wrap, go here instead
    ptrdiff_t dstPixelStride, dstBlockStride;
    const float *scale, *offset;  // nb * P
    const float* min;             // nb * P, or null
    const float* pixelSums;       // m, when there is a min
    float ratio, lo, hi;
    bool bounded;  // no result reaches 2^30 before it is clipped
    int nb;        // 1 .. maxPanelBlocks
    int m;
    // tiles of this panel that were computed before: the first tiles prefetch the weights of the next panel
    int firstTile;
};

// The depthwise convolution of one channel block: round((sum + bias[j]) * scale[j]).
struct Int8DepthwiseArgs {
    const int8_t* src;  // ih x iw x P
    int8_t* dst;        // oh x ow x P
    const char* w;      // [kw][groups of rows][P][4 bytes]
    const int32_t* bias;
    const float* scale;
    const ConvShape* shape;
    int padding;  // the value outside the map
    float lo, hi;
    bool bounded;          // as in Int8PanelArgs
    int rowBegin, rowEnd;  // output rows
};

// Pixels whose blocks of channels are to lie side by side. Strides are in bytes.
struct Int8PixelsArgs {
    const int8_t* src;
    ptrdiff_t srcPixel, srcBlock;
    char* dst;
    ptrdiff_t dstPixel;
    int blocks, pixels;
};

// q = clip(round(x * scale + zero), lo, hi) lane by lane; the arrays have P elements.
struct QuantizeArgs {
    const float *scale, *zero;
    float lo, hi;
};

// The bytes of its input that the depthwise kernel holds at a time: the columns of one output must fit.
constexpr int kInt8LineBytes = 32 << 10;

enum class Int8Binary : int { Add, Sub, Mul };
// clip(round(op((a - zeroA) * scaleA, (b - zeroB) * scaleB) * inverse) + zero, lo, hi)
struct Int8BinaryArgs {
    Int8Binary op;
    float scaleA, scaleB, inverse;
    float zeroA, zeroB, zero, lo, hi;
};

// clip(round((((q - zeroIn) * scaleIn) * factor[l] + term[l]) * inverse + zero), lo, hi) lane by lane.
struct Int8AffineArgs {
    const float *factor, *term;
    float scaleIn, zeroIn, inverse, zero, lo, hi;
};

// One row of a linear resize: clip(round(sum of the weighted (q - zeroIn) * ratio + zero), lo, hi), two taps a row.
struct Int8ResizeArgs {
    const int8_t* const* rows;  // width x P each
    const float* rowWeights;
    int rowCount;
    const int32_t* index;  // outputs x 2: positions in a row
    const float* weight;   // outputs x 2
    int outputs;
    int8_t* dst;  // outputs x P
    float zeroIn, ratio, zero, lo, hi;
};

// One row of averages: the sum over the taps of depth x height x spans[x], plus `outside` for every other tap that
// counts, divided by the number of these taps, less 128. A divisor of 0 gives `empty`.
struct Int8AverageArgs {
    const int8_t* src;  // the first tap's row
    int8_t* dst;        // outputs x P
    int depth, height;
    ptrdiff_t depthStride, rowStride;  // bytes
    const PoolSpan* spans;             // one per output
    int outputs;
    bool countsPadding, nearest;  // nearest: without rounding down by a truncated reciprocal
    int64_t rowCount;             // with padding: depth x height of the divisor
    const int64_t* widthCounts;   // with padding: width of the divisor, one per output
    int outside;                  // 0 .. 255
    int8_t empty;
};

struct Int8WinogradTransforms;  // int8_winograd.h

// The kernels of matrix products, which have a file of their own.
struct Int8GemmKernels {
    int lanes, maxPanelBlocks;
    int maxRows[5];
    void (*panel)(const Int8PanelArgs& args);
    void (*clearUnfit)(const int8_t* rows, int steps, int count, char* flags) = nullptr;  // as in Int8Kernels
};

struct Int8Kernels {
    int lanes;
    int unit;           // bytes of an activation in products: 1 or 2
    int zero;           // products take x + zero: 128 or 0
    int stepsTogether;  // of dense weights: 1 or 2
    // Clears the flags of those pairs of steps that do not fit together (fitTogether) in each of `count` rows of
    // `steps` fours of codes. The flags follow dense weights and their sums, in whole steps. Null: there are none.
    void (*clearUnfit)(const int8_t* rows, int steps, int count, char* flags);
    // Whether dense weights of pairs are separated: a step of a block has the first number of all pairs, then the
    // second ones.
    bool pairsApart;
    double instructions;  // instructions to multiply a vector of weights by a pixel's step and add the product
    int maxPanelBlocks;
    int maxRows[5];
    void (*panel)(const Int8PanelArgs& args);
    void (*depthwise)(const Int8DepthwiseArgs& args);
    // Stores x + zero in units.
    void (*widen)(const int8_t* src, char* dst, size_t count);
    // The same for pixels, which have all blocks of channels side by side in the result. Null: products are not faster
    // with such pixels.
    void (*widenPixels)(const Int8PixelsArgs& args);
    void (*quantize)(const float* src, int8_t* dst, size_t blocks, const QuantizeArgs& args);
    // Stores (q - zero) * scale.
    void (*dequantize)(const int8_t* src, float* dst, size_t blocks, const float* scale, const float* zero);
    void (*binary)(const int8_t* a, const int8_t* b, int8_t* dst, size_t count, const Int8BinaryArgs& args);
    // Computes one row of outputs: the maxima of columns spans[x] of all rows. There are rows, no span is empty, and
    // neither the first nor the last columns of spans decrease.
    void (*maximum)(const int8_t* const* rows, int rowCount, const PoolSpan* spans, int outputs, int8_t* dst);
    void (*average)(const Int8AverageArgs& args);
    // dst[i] = table[src[i] as an unsigned byte]; src and dst may be the same.
    void (*lookup)(const int8_t* src, int8_t* dst, size_t count, const int8_t* table);
    void (*affine)(const int8_t* src, int8_t* dst, size_t blocks, const Int8AffineArgs& args);
    // Like affine, but without a term, and with the factor only where q < zeroIn.
    void (*leaky)(const int8_t* src, int8_t* dst, size_t blocks, const Int8AffineArgs& args);
    void (*resizeLinear)(const Int8ResizeArgs& args);
    // Products of pairs of 16-bit numbers, which store sums, and the other parts of exact Winograd convolutions. Null
    // where they cannot be faster: on Arm, products of bytes have four times as many terms.
    const Int8GemmKernels* pairSums;
    const Int8WinogradTransforms* winograd;
    const char* name;  // "vnni", "madd", "maddubs", "i8mm", "dotprod" or "portable"
};

// The kinds of products: of pairs of 16-bit numbers; of unsigned bytes (VNNI); of signed bytes (Arm's dot product), and
// of matrices of signed bytes (Arm's I8MM); of codes that are not negative, by instructions older than VNNI (Bytes). No
// table has WordSums: it stands for products of pairs with VNNI, of which only the sums are stored.
enum class Int8Product { Pairs, Vnni, Dot, Matrix, Bytes, WordSums };

// Returns the best table for any codes that this CPU has for the instruction set.
const Int8Kernels& int8Kernels(Isa isa);
// Returns the table of one kind; null where the CPU or this build has none. Pairs exist everywhere.
const Int8Kernels* int8Kernels(Isa isa, Int8Product product);

// The parts of Int8Kernels, each of which has a file of its own. Other kinds than pairs exist only where the build has
// such products for the instruction set.
struct Int8ElementKernels {
    decltype(Int8Kernels::quantize) quantize;
    decltype(Int8Kernels::dequantize) dequantize;
    decltype(Int8Kernels::binary) binary;
    decltype(Int8Kernels::maximum) maximum;
    decltype(Int8Kernels::average) average;
    decltype(Int8Kernels::widen) widen[2];                       // by Int8Product: Pairs and Vnni
    decltype(Int8Kernels::widenPixels) widenPixels, copyPixels;  // for pairs, and as they are
};
struct Int8MapKernels {
    decltype(Int8Kernels::lookup) lookup;
    decltype(Int8Kernels::affine) affine, leaky;
    decltype(Int8Kernels::resizeLinear) resizeLinear;
    decltype(Int8Kernels::lookup) lookupVbmi;  // null where the instruction set has no such form
};
const Int8GemmKernels& int8GemmKernels(Isa isa, Int8Product product);
const Int8GemmKernels& int8ArmGemmKernels(Int8Product product);  // Dot or Matrix
const Int8GemmKernels* int8ByteGemmKernels(Isa isa);             // null: the instruction set has none
decltype(Int8Kernels::depthwise) int8DepthwiseKernel(Isa isa, Int8Product product);
const Int8ElementKernels& int8ElementKernels(Isa isa);
const Int8MapKernels& int8MapKernels(Isa isa);

}  // namespace mnnc
