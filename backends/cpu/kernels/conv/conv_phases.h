// The taps that each output of a convolution reads, and their places in the map.
#pragma once
#include <cstddef>
#include <vector>

#include "backends/cpu/kernels/conv_types.h"

namespace mnnc {

struct ConvTap {
    int ky, kx;
    int dy, dx;  // the place that it reads, relative to the output's position times the step
};

// Output pixels that share their taps. A forward convolution is one phase; a transposed one has strideH x strideW
// phases, each a dense convolution of its own with a few of the taps, which may be none.
struct ConvPhase {
    int py, px;      // first output
    int rows, cols;  // the number of its outputs
    std::vector<ConvTap> taps;
};

// Returns the phases in the order of their first outputs. Throws NotSupported where the strides of a transposed
// convolution make too many.
std::vector<ConvPhase> convPhases(const ConvShape& shape, bool transposed);

// A rectangle of the outputs of a phase, and the taps that lie inside of the map for all of them.
struct TapRegion {
    size_t phase;
    int y, x, rows, cols;
    std::vector<int> taps;  // in the order of the phase
};
// Returns all regions, the largest of a phase first; none when there are more than `maxRegions`, or when their lists
// of taps are too long to pay.
std::vector<TapRegion> tapRegions(const ConvShape& shape, bool transposed, size_t maxRegions);

// The part of the map with a border that the taps of all phases read. Neighbouring outputs lie `stepY` and `stepX`
// pixels of the source apart.
struct TapExtent {
    int top, left;      // rows and columns of the border before the map
    int height, width;  // with the border
    int tapRows;        // rows from the first to the last that one output reads
    bool hasBorder(const ConvShape& s) const { return top || left || height != s.ih || width != s.iw; }
};
TapExtent tapExtent(const ConvShape& shape, const std::vector<ConvPhase>& phases, int stepY, int stepX);

}  // namespace mnnc
