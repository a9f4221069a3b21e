// The shared libraries of Vulkan drivers.
#pragma once
#include <string>
#include <vector>

namespace mnnc::vulkan {

// Paths of the drivers that the loader has in memory now.
std::vector<std::string> loadedDrivers();

// Keeps them until the process ends. The loader drops drivers with the last VkInstance, and not every one can be loaded
// again and again: that of NVIDIA (580) fails after about thirty times, because its thread-local memory is not
// given back.
void keepDriversLoaded();

}  // namespace mnnc::vulkan
