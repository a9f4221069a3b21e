// The composite fusions of the CPU backend, one file each; patterns.cpp lists them in the order in which they match.
#pragma once
#include "backend/fusion.h"
#include "backends/cpu/cpu_backend.h"

namespace mnnc::cpu {

extern const FusionPattern kPointwiseDepthwise, kResizedConvolution, kRotaryEmbedding, kElementwiseChain;

std::span<const FusionPattern* const> fusionPatterns() noexcept;

// A pattern is given only graphs of the backend that lists it.
inline const CpuBackend& cpuBackend(const Backend& backend) {
    return static_cast<const CpuBackend&>(backend);
}
inline CpuBackend& cpuBackend(Backend& backend) {
    return static_cast<CpuBackend&>(backend);
}

}  // namespace mnnc::cpu
