// The look-up in the CPU backend's list of families.
#pragma once
#include "backends/cpu/cpu_backend.h"

namespace mnnc::cpu {

// Returns the CPU's entry for an operator, or nullptr.
const CpuOp* findCpuOp(OpType type) noexcept;

}  // namespace mnnc::cpu
