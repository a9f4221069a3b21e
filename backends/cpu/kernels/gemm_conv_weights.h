// How GemmConvPlan's weights lie in memory, and packing them so.
#pragma once
#include <cstddef>
#include <vector>

#include "backends/cpu/kernels/conv_phases.h"

namespace mnnc {

// Some blocks of output channels and the input channels they read.
struct GemmPanel {
    int block, nb;
    int inBlock;  // first block of input channels read
    int fullBlocks, tail;
    int channels;
};

// [run][element of the run][output channel of the panel], as bf16 in pairs of elements. A run is read side by side:
// the channels of a tap, or (planar) the taps of a kernel row. There is one for each offset of the phase.
struct GemmConvWeights {
    const Kernels& k;
    const ConvShape& s;
    const int groups;
    const bool transposed, planar, joined;

    int runLength(const GemmPanel& p) const { return planar ? (joined ? s.kw : 1) : p.channels; }

    // `weights`: those of the panel's outputs; of a transposed product all. T: float, or uint16_t for bf16.
    template <typename T>
    void pack(const float* weights, T* out, const ConvPhase& phase, const GemmPanel& p) const;

  private:
    template <typename T>
    void packRows(const float* weights, T* out, const GemmPanel& p, int channels) const;
};

}  // namespace mnnc
