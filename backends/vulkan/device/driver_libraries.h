// The shared libraries of Vulkan drivers.
#pragma once
#include <string>
#include <vector>

namespace mnnc::vulkan {

// Returns the paths of the drivers that the loader has in memory now.
std::vector<std::string> loadedDrivers();

// Keeps the drivers loaded until the process ends. The loader unloads them with the last VkInstance, and not every
// driver can be loaded repeatedly: that of NVIDIA (580) fails after about thirty times, because its thread-local memory
// is not released.
void keepDriversLoaded();

}  // namespace mnnc::vulkan
