// The devices that the last VkInstance of this process found, kept after it is destroyed: then listing the devices
// loads no driver. The record is static storage of the library, without a destructor; a child of fork() begins without
// one.
#pragma once
#include <string>
#include <vector>

#include "backend/backend.h"

namespace mnnc::vulkan {

struct FoundDevices {
    std::vector<DeviceDescription> devices;
    std::string reason;  // why there are none
};

// Replaces the record. surroundings: the value before the instance was made.
void keepFound(uint64_t surroundings, const FoundDevices& found) noexcept;

// Returns false when the record is of other surroundings, or there is none.
bool lastFound(uint64_t surroundings, FoundDevices& found);

}  // namespace mnnc::vulkan
