// Estimates of cycles that several implementations of convolutions share.
#pragma once
#include "backends/cpu/kernels/conv/conv.h"

namespace mnnc {

// Products of rounded numbers, bf16 or 16-bit integers: where sums are short there is little to gain, because
// reading and writing bounds them, and much to lose, because the rounding of the first layers goes through
// the whole net. Measured on nets with linear bottlenecks.
constexpr int kMinRoundedTerms = 97;

// Whether each group's channels fill vectors, on both sides.
bool fillsVectors(const Kernels& k, const ConvShape& shape, int groups);

// Whether a plan multiplies bf16: asked for, available, and worth the rounding. First layers and groups stay
// float.
bool roundsToBf16(const Kernels& k, const ConvShape& shape, const ConvOptions& options);

// Reading so many bytes of weights from memory beside the cycles of products.
double withTraffic(const Kernels& k, double cycles, double bytes);

// Memory in so many pieces, one after another: what of a piece lies beyond twice the second level cache moves to the
// next level or from it so many times. A line that is written is fetched first. Measured with up to 2048 channels.
double spilledCycles(const Kernels& k, double bytes, int pieces, int times);

// Products of `rows` rows of `columns` pixels with kernels of `taps` taps.
struct GemmConvWork {
    int rows, columns;
    double taps;
    bool copied;  // the input gets a border
};
double gemmConvCycles(const Kernels& k, const ConvShape& shape, const ConvOptions& options, const GemmConvWork& work);

}  // namespace mnnc
