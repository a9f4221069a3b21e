// The composite fusions of the Vulkan backend, one file each; patterns.cpp lists them in the order in which they match.
#pragma once
#include "backend/fusion.h"
#include "backends/vulkan/vulkan_backend.h"

namespace mnnc::vulkan {

extern const FusionPattern kElementwiseChain;

std::span<const FusionPattern* const> fusionPatterns() noexcept;

// A pattern is given only graphs of the backend that lists it.
inline const VulkanBackend& vulkanBackend(const Backend& backend) {
    return static_cast<const VulkanBackend&>(backend);
}
inline VulkanBackend& vulkanBackend(Backend& backend) {
    return static_cast<VulkanBackend&>(backend);
}

}  // namespace mnnc::vulkan
