// Declares the tables of the families, which families.def lists.
#pragma once
#include "backends/cpu/cpu_backend.h"

namespace mnnc::cpu {

#define MNN_C_FAMILY(name) extern const CpuFamily name##Cpu;
#include "backends/cpu/ops/families.def"
#undef MNN_C_FAMILY

}  // namespace mnnc::cpu
