// The bytes of a stored cache: the library's header, the driver's pipelines, and the tuning record. Drivers accept
// garbage, so bytes that are damaged or of another device, driver or library are rejected here.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mnnc::vulkan {

struct DeviceInfo;

// The parts of a stored cache, as spans into its bytes.
struct CacheContent {
    std::span<const uint8_t> pipelines;  // the driver's bytes
    std::span<const uint8_t> tuning;     // of the TuningRecord
};

std::vector<uint8_t> storedCache(const CacheContent& content, const DeviceInfo& info);

// Returns std::nullopt when the bytes are rejected.
std::optional<CacheContent> cacheContent(std::span<const uint8_t> bytes, const DeviceInfo& info);

}  // namespace mnnc::vulkan
