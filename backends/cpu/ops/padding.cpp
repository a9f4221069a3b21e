// Padding needs no execution: its geometry covers every mode with regions, a run-time fill value included.
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

CpuFamily paddingCpu() {
    return {};
}

}  // namespace mnnc::cpu
