// Which taps the outputs of a convolution read, and from where.
#pragma once
#include <cstddef>
#include <vector>

#include "backends/cpu/kernels/conv.h"

namespace mnnc {

struct ConvTap {
    int ky, kx;
    int dy, dx;  // where it reads, from the output's position times the step
};

// Output pixels that share their taps. A forward convolution is one phase; a transposed one has stride x
// stride, each a dense convolution of its own with a few of the taps.
struct ConvPhase {
    int py, px;      // first output
    int rows, cols;  // how many of its outputs
    std::vector<ConvTap> taps;
    std::vector<ptrdiff_t> offsets;  // of the taps in the source, floats
};

// In the order of their first outputs; without offsets.
std::vector<ConvPhase> convPhases(const ConvShape& shape, bool transposed);

}  // namespace mnnc
