// Slices of a volume at single depths, and the slices that the output slices of a 3-D convolution read.
#pragma once
#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/kernels.h"
#include "ops/convolution3d.h"
#include "tensor/operand.h"

namespace mnnc::cpu {

// A tap in depth: its number, and the slice that the phase's output number j reads by it, j * inputStep + offset.
struct DepthTap {
    int64_t k, offset;
};

// The output slices whose taps have the same weights. A convolution has one phase, a transposed convolution one for
// each remainder of the stride in depth.
struct DepthPhase {
    std::vector<DepthTap> taps;   // at least one; k < 0: a tap of zeros
    int64_t first = 0, step = 1;  // output slices
    int64_t inputStep = 1;
};
std::vector<DepthPhase> depthPhases(const Conv3dParams& params, const Conv3dWindow& window);
// Returns the weights of a phase in the order of a 2-D convolution of its taps, taken from those of the whole
// convolution.
std::vector<float> phaseWeights(const DepthPhase& phase, const Conv3dParams& params, const Conv3dWindow& window,
                                const float* stored);

// A float tensor [n, c, depth, height, width], row-major or channel-packed.
class VolumeSlices {
  public:
    // data: the address of its elements.
    VolumeSlices(const Operand& volume, const float* data, const Kernels& kernels);

    // Returns the address of pixel 0 of a channel at a depth; null where there is none.
    const float* channelAt(int64_t n, int64_t channel, int64_t depth) const;
    // Copies `count` such channels, side by side as lanes from pixel `from` on; null ones become zeros.
    void copy(const float* const* lanes, int64_t count, int64_t from, int64_t pixels, float* dst) const;

  private:
    void fromRows(const float* const* lanes, int64_t count, int64_t from, int64_t pixels, float* dst) const;
    void fromBlocks(const float* const* lanes, int64_t count, int64_t from, int64_t pixels, float* dst) const;

    const Kernels& kernels_;
    const int lanes_;
    const float* data_;
    int64_t channels_, depth_, area_;
    bool packed_;
};

}  // namespace mnnc::cpu
