// The bytes of a stored pipeline cache: a header of ours, then the driver's. Drivers accept garbage, so bytes
// that are damaged or of another device, driver or library are rejected here.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace mnnc::vulkan {

struct DeviceInfo;

std::vector<uint8_t> storedCache(std::span<const uint8_t> driversBytes, const DeviceInfo& info);

// The bytes for the driver; empty when they are rejected.
std::span<const uint8_t> driversCache(std::span<const uint8_t> bytes, const DeviceInfo& info);

}  // namespace mnnc::vulkan
