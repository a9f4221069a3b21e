// The one list of the Vulkan backend's composite fusions.
#include "backends/vulkan/fusions/patterns.h"

namespace mnnc::vulkan {

std::span<const FusionPattern* const> fusionPatterns() noexcept {
    static constexpr const FusionPattern* kPatterns[] = {&kElementwiseChain};
    return kPatterns;
}

}  // namespace mnnc::vulkan
