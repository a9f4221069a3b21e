// Finds an operator in the tables of all families.
#include "backends/vulkan/ops/table.h"

#include "backends/vulkan/ops/families.h"

namespace mnnc::vulkan {

const VulkanOp* findVulkanOp(OpType type) noexcept {
    static constexpr const VulkanFamily* kFamilies[] = {
#define MNN_C_FAMILY(name) &name##Vulkan,
#include "backends/vulkan/ops/families.def"
#undef MNN_C_FAMILY
    };
    for (const VulkanFamily* family : kFamilies)
        for (const VulkanOp& op : *family)
            if (op.type == type) return &op;
    return nullptr;
}

}  // namespace mnnc::vulkan
