// The look-up in the Vulkan backend's list of families.
#pragma once
#include "backends/vulkan/vulkan_backend.h"

namespace mnnc::vulkan {

// Returns the Vulkan backend's entry for an operator, or nullptr.
const VulkanOp* findVulkanOp(OpType type) noexcept;

}  // namespace mnnc::vulkan
