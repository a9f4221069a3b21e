// Attention over keys and values that the session keeps from run to run (backend/kept_state.h).
#pragma once
#include "backends/vulkan/vulkan_execution.h"

namespace mnnc::vulkan {

bool supportsKeptAttention(const VulkanBackend& backend, const Command& command, std::string& reason);
std::unique_ptr<Execution> createKeptAttention(VulkanBackend& backend, const Command& command);

}  // namespace mnnc::vulkan
