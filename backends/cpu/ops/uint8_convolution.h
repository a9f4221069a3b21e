// Convolutions over TFLite's unsigned codes.
#pragma once
#include "backends/cpu/cpu_backend.h"

namespace mnnc::cpu {

std::unique_ptr<Execution> createUint8Convolution(CpuBackend& backend, const Command& command, std::string& reason);

}  // namespace mnnc::cpu
