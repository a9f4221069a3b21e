// The one list of operator families of the Vulkan backend.
#include "backends/vulkan/ops/table.h"

#include "backends/vulkan/ops/families.h"

namespace mnnc::vulkan {

const VulkanOp* findVulkanOp(OpType type) noexcept {
    using FamilyFunction = VulkanFamily (*)();
    static constexpr FamilyFunction kFamilies[] = {
        // clang-format off
        rasterVulkan, activationVulkan, convolutionVulkan, unaryVulkan, binaryVulkan, scaleVulkan, castVulkan,
        poolingVulkan, matmulVulkan, interpVulkan, gatherVulkan, softmaxVulkan, layerNormVulkan,
        reductionVulkan, searchVulkan, selectVulkan, scanVulkan, gridSampleVulkan, attentionVulkan, regionVulkan,
        convolution3dVulkan, fillVulkan, scatterVulkan, groupNormVulkan,
        recurrentVulkan, recurrentBlockVulkan, nonMaxSuppressionVulkan,
        // clang-format on
    };
    for (const FamilyFunction family : kFamilies)
        for (const VulkanOp& op : family())
            if (op.type == type) return &op;
    return nullptr;
}

}  // namespace mnnc::vulkan
