// The devices that the last VkInstance of this process found, kept when it is gone: a question for the devices loads no
// driver then. The record is storage of the library, without a destructor; a child of fork() begins without one.
#pragma once
#include <string>
#include <vector>

#include "backend/backend.h"

namespace mnnc::vulkan {

struct FoundDevices {
    std::vector<DeviceDescription> devices;
    std::string reason;  // why there are none
};

// Replaces the record. surroundings: as they were before the instance was made.
void keepFound(uint64_t surroundings, const FoundDevices& found) noexcept;

// False: the record is of other surroundings, or there is none.
bool lastFound(uint64_t surroundings, FoundDevices& found);

}  // namespace mnnc::vulkan
