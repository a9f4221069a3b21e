// A Raster that keeps the order of all elements and changes their storage, row-major or packed.
#pragma once
#include "backends/cpu/cpu_backend.h"

namespace mnnc::cpu {

std::unique_ptr<Execution> createStorageChange(const CpuBackend& backend, const Command& command);

}  // namespace mnnc::cpu
