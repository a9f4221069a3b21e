// The bytes of a stored cache: a header of ours, the driver's pipelines, and what was tuned. Drivers accept garbage, so
// bytes that are damaged or of another device, driver or library are rejected here.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mnnc::vulkan {

struct DeviceInfo;

// What a stored cache holds. The spans lie in its bytes.
struct CacheContent {
    std::span<const uint8_t> pipelines;  // the driver's bytes
    std::span<const uint8_t> tuning;     // of the TuningRecord
};

std::vector<uint8_t> storedCache(const CacheContent& content, const DeviceInfo& info);

// Nothing when the bytes are rejected.
std::optional<CacheContent> cacheContent(std::span<const uint8_t> bytes, const DeviceInfo& info);

}  // namespace mnnc::vulkan
