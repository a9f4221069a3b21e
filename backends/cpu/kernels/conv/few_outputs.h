// Convolutions to a few outputs: vectors run along the input channels.
#pragma once
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// The product differs from that of PanelKernels: `nb` counts outputs; w is [run][block of channels][output][P] with
// zeros behind the last channel; dst, residual and bias begin with the first of these outputs. Weights are not
// prefetched. The lanes of other outputs keep their values. `activate` is the function of UnaryKernels.
struct FewOutputsKernels {
    static constexpr int kMaxOutputs = 4;
    int maxRows[kMaxOutputs + 1];  // pixels of a tile
    void (*product)(const PanelArgs& args, void (*activate)(float*, size_t, Act, float, float));
};

const FewOutputsKernels& fewOutputsKernels(Isa isa);

}  // namespace mnnc
