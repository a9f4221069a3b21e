// Estimates of cycles that several implementations of convolutions share.
#pragma once
#include "backends/cpu/kernels/conv/conv.h"

namespace mnnc {

// The minimum number of terms of a sum for products of rounded numbers, bf16 or 16-bit integers. Short sums gain
// little, because reading and writing bounds them, and lose much, because the rounding of the first layers affects the
// whole net. The number was measured on nets with linear bottlenecks.
constexpr int kMinRoundedTerms = 97;

// Returns whether each group's channels fill vectors, on both sides.
bool fillsVectors(const Kernels& k, const ConvShape& shape, int groups);

// Returns whether a plan multiplies bf16: it was requested, the kernels have it, and the gain is worth the rounding.
// First layers and groups stay float.
bool roundsToBf16(const Kernels& k, const ConvShape& shape, const ConvOptions& options);

// Returns the cycles of products whose weights, `bytes` bytes, are read from memory at the same time. Products hide
// only a part of the reading.
double withTraffic(const Kernels& k, double cycles, double bytes);

// Returns the cycles to move `bytes` bytes of memory that are used in `pieces` pieces, one after another. The part of a
// piece beyond twice the second level cache moves to or from the next level `times` times. A line that is written is
// fetched first. The rule was measured with up to 2048 channels.
double spilledCycles(const Kernels& k, double bytes, int pieces, int times);

// The work of products: `rows` rows of `columns` pixels with kernels of `taps` taps.
struct GemmConvWork {
    int rows, columns;
    double taps;
    bool copied;  // the input gets a border
};
double gemmConvCycles(const Kernels& k, const ConvShape& shape, const ConvOptions& options, const GemmConvWork& work);

}  // namespace mnnc
