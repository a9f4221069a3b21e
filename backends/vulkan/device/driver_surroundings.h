// What decides which Vulkan devices a process finds, without loading a driver.
#pragma once
#include <cstdint>

namespace mnnc::vulkan {

// A number that is another one when the Vulkan loader could find other devices than before. It is made of
// - all variables of the environment, and the user and group of the process,
// - the files of the folders where the loader looks for drivers and layers, and those that VK_DRIVER_FILES and the like
// name:
//   name, identity, size, times,
// - the list of devices in /dev, and the devices in /dev/dri with their permissions.
// Takes some tens of microseconds.
uint64_t driverSurroundings();

}  // namespace mnnc::vulkan
