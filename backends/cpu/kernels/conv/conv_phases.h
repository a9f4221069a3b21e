// Which taps the outputs of a convolution read, and from where.
#pragma once
#include <cstddef>
#include <vector>

#include "backends/cpu/kernels/conv_types.h"

namespace mnnc {

struct ConvTap {
    int ky, kx;
    int dy, dx;  // where it reads, from the output's position times the step
};

// Output pixels that share their taps. A forward convolution is one phase; a transposed one has stride x
// stride phases, each a dense convolution of its own with a few of the taps.
struct ConvPhase {
    int py, px;      // first output
    int rows, cols;  // how many of its outputs
    std::vector<ConvTap> taps;
};

// In the order of their first outputs. Throws NotSupported for strides of a transposed convolution that make
// too many.
std::vector<ConvPhase> convPhases(const ConvShape& shape, bool transposed);

// A rectangle of the outputs of a phase, and which of its taps lie inside of the map for all of them.
struct TapRegion {
    size_t phase;
    int y, x, rows, cols;
    std::vector<int> taps;  // in the order of the phase
};
// All of them, the largest of a phase first; none when there are more than `most`.
std::vector<TapRegion> tapRegions(const ConvShape& shape, bool transposed, size_t most);

// The part of the map with a border that the taps of all phases read, when outputs lie `stepY` and `stepX`
// pixels of the source apart.
struct TapExtent {
    int top, left;      // rows and columns of the border before the map
    int height, width;  // with the border
    int tapRows;        // rows from the first one that an output reads to behind the last one
    bool hasBorder(const ConvShape& s) const { return top || left || height != s.ih || width != s.iw; }
};
TapExtent tapExtent(const ConvShape& shape, const std::vector<ConvPhase>& phases, int stepY, int stepX);

}  // namespace mnnc
