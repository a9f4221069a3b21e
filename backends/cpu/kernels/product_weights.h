// How ProductPlan's weights lie in memory, and packing them so.
#pragma once
#include <cstddef>
#include <vector>

#include "backends/cpu/kernels/conv.h"

namespace mnnc {

struct ProductTap {
    int ky, kx;
    int dy, dx;  // where it reads, from the output's position times the step
};

// Output pixels that share their taps. A forward convolution is one phase; a transposed one has stride x
// stride, each a dense convolution of its own with a few of the taps.
struct ProductPhase {
    int py, px;      // first output
    int rows, cols;  // how many of its outputs
    std::vector<ProductTap> taps;
    std::vector<ptrdiff_t> offsets;  // of the taps in the source, floats
};

// Some blocks of output channels and the input channels they read.
struct ProductPanel {
    int block, nb;
    int inBlock;  // first block of input channels read
    int fullBlocks, tail;
    int channels;
};

// [run][element of the run][output channel of the panel], as bf16 in pairs of elements. A run is read side by side:
// the channels of a tap, or (planar) the taps of a kernel row. There is one for each offset of the phase.
struct ProductWeights {
    const Kernels& k;
    const ConvShape& s;
    const int groups;
    const bool transposed, planar, joined;

    int runLength(const ProductPanel& p) const { return planar ? (joined ? s.kw : 1) : p.channels; }

    // T: float, or uint16_t for bf16.
    template <typename T>
    void pack(const float* weights, T* out, const ProductPhase& phase, const ProductPanel& p) const;

  private:
    template <typename T>
    void packRows(const float* weights, T* out, const ProductPanel& p, int channels) const;
};

}  // namespace mnnc
