// The Vulkan backend's entry in the registry, and its list of devices.
#pragma once
#include "backend/registry.h"

namespace mnnc::vulkan {

// Throws Error(BackendMissing) with the reason where there is no loader, driver or device.
std::shared_ptr<Runtime> createVulkanRuntime(const BackendConfig& config);
// Returns an empty list and a reason where there is no device.
std::vector<DeviceDescription> listVulkanDevices(std::string& reason);

}  // namespace mnnc::vulkan
