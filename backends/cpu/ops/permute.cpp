// Permutes need no execution: ReverseSequence too becomes regions, since its lengths are known when shapes
// are.
#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

CpuFamily permuteCpu() {
    return {};
}

}  // namespace mnnc::cpu
