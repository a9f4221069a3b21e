// 3-D convolutions with a group for each channel.
#pragma once
#include <memory>

#include "backends/cpu/cpu_backend.h"
#include "ops/convolution3d.h"

namespace mnnc::cpu {

// Returns false for transposed convolutions. Shapes must be known.
bool isDepthwiseVolume(const Command& command);

// The input and the output are channel-packed.
std::unique_ptr<Execution> makeDepthwiseVolume(CpuBackend& backend, const Command& command);

}  // namespace mnnc::cpu
