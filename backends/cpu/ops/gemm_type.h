// The element type of the operands of matrix products in a session.
#pragma once
#include <string>

#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/kernels/conv_kernels.h"
#include "backends/cpu/kernels/gemm/gemm.h"

namespace mnnc::cpu {

inline GemmType gemmType(const CpuBackend& backend) {
    const bool bf16 = backend.config().precision == Precision::Low && backend.kernels().bf16;
    return bf16 ? GemmType::Bf16 : GemmType::Float;
}

// Returns the text of algorithm().
inline std::string gemmText(const CpuBackend& backend, GemmType type) {
    return type == GemmType::Bf16 ? std::string("gemm.") + backend.kernels().bf16->type : "";
}

}  // namespace mnnc::cpu
