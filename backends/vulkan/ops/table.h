// All operators of the Vulkan backend.
#pragma once
#include "backends/vulkan/vulkan_backend.h"

namespace mnnc::vulkan {

const VulkanOp* findVulkanOp(OpType type) noexcept;

}  // namespace mnnc::vulkan
