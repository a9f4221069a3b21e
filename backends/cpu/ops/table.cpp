// Finds an operator in the tables of all families.
#include "backends/cpu/ops/table.h"

#include "backends/cpu/ops/families.h"

namespace mnnc::cpu {

const CpuOp* findCpuOp(OpType type) noexcept {
    static constexpr const CpuFamily* kFamilies[] = {
#define MNN_C_FAMILY(name) &name##Cpu,
#include "backends/cpu/ops/families.def"
#undef MNN_C_FAMILY
    };
    for (const CpuFamily* family : kFamilies)
        for (const CpuOp& op : *family)
            if (op.type == type) return &op;
    return nullptr;
}

}  // namespace mnnc::cpu
