// The state of the system on which the Vulkan loader's list of devices depends, read without loading a driver.
#pragma once
#include <cstdint>

namespace mnnc::vulkan {

// Returns a number that changes when the Vulkan loader could find other devices than before. It is a hash of
// - all variables of the environment, and the user and group of the process,
// - name, identity, size and times of the files in the folders where the loader looks for drivers and layers, and of
//   those that VK_DRIVER_FILES and the like name,
// - the list of devices in /dev, and the devices in /dev/dri with their permissions.
// It takes some tens of microseconds.
uint64_t driverSurroundings();

}  // namespace mnnc::vulkan
