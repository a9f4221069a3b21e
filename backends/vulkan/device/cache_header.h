// The bytes of a stored pipeline cache: a header of ours, then the driver's. Drivers accept garbage, so whatever is
// damaged or made for another device, driver or library ends here.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace mnnc::vulkan {

struct DeviceInfo;

std::vector<uint8_t> storedCache(std::span<const uint8_t> driversBytes, const DeviceInfo& info);

// What may be given to the driver; nothing when the bytes are a miss.
std::span<const uint8_t> driversCache(std::span<const uint8_t> bytes, const DeviceInfo& info);

}  // namespace mnnc::vulkan
