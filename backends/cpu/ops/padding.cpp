// Padding needs no execution: its geometry expresses every mode by regions, even a fill value that is known only in a
// run.
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

CpuFamily paddingCpu() {
    return {};
}

}  // namespace mnnc::cpu
