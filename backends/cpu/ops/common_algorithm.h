// One algorithm for convolutions that share their weights.
#pragma once
#include <span>

#include "backends/cpu/cpu_backend.h"

namespace mnnc::cpu {

// Implements Backend::commonAlgorithm: returns a ConvAlgorithm, whose Auto is 0.
int commonAlgorithm(const CpuBackend& backend, std::span<const Command* const> commands);

}  // namespace mnnc::cpu
