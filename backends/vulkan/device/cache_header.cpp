// Writes and checks the header in front of a stored pipeline cache.
#include "backends/vulkan/device/cache_header.h"

#include <algorithm>
#include <cstring>

#include "backends/vulkan/device/instance.h"
#include "backends/vulkan/device/shaders.h"
#include "base/fnv_hash.h"

namespace mnnc::vulkan {

namespace {

struct CacheHeader {
    char magic[8] = {'M', 'N', 'N', 'C', 'V', 'K', 'P', '2'};
    uint32_t vendor = 0, device = 0, driver = 0, api = 0;
    uint8_t uuid[VK_UUID_SIZE] = {};
    uint64_t shaders = 0;                // hash of all embedded shaders
    uint64_t checksum = 0;               // of the bytes behind the header
    uint64_t pipelines = 0, tuning = 0;  // bytes of each
};

uint64_t hashShaders() {
    static const uint64_t value = [] {
        FnvHash hash;
        for (const ShaderCode& code : embeddedShaders()) hash.addBytes(code.packed, code.bytes);
        return hash.value();
    }();
    return value;
}

uint64_t checksumOf(const CacheContent& content) {
    FnvHash hash;
    hash.addBytes(content.pipelines.data(), content.pipelines.size());
    hash.addBytes(content.tuning.data(), content.tuning.size());
    return hash.value();
}

CacheHeader headerFor(const CacheContent& content, const DeviceInfo& info) {
    CacheHeader header;
    header.vendor = info.vendorId;
    header.device = info.deviceId;
    header.driver = info.driverVersion;
    header.api = info.apiVersion;
    std::copy(std::begin(info.pipelineCacheUuid), std::end(info.pipelineCacheUuid), header.uuid);
    header.shaders = hashShaders();
    header.checksum = checksumOf(content);
    header.pipelines = content.pipelines.size();
    header.tuning = content.tuning.size();
    return header;
}

// Returns whether the driver's bytes begin with the header that Vulkan prescribes (length, version 1, vendor, device,
// UUID), for this device.
bool driverHeaderFits(std::span<const uint8_t> bytes, const DeviceInfo& info) {
    uint32_t words[4];
    if (bytes.size() < sizeof words + VK_UUID_SIZE) return false;
    std::memcpy(words, bytes.data(), sizeof words);
    return words[0] == sizeof words + VK_UUID_SIZE && words[1] == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
           words[2] == info.vendorId && words[3] == info.deviceId &&
           std::memcmp(bytes.data() + sizeof words, info.pipelineCacheUuid, VK_UUID_SIZE) == 0;
}

}  // namespace

std::vector<uint8_t> storedCache(const CacheContent& content, const DeviceInfo& info) {
    const CacheHeader header = headerFor(content, info);
    std::vector<uint8_t> stored(sizeof header);
    std::memcpy(stored.data(), &header, sizeof header);
    stored.insert(stored.end(), content.pipelines.begin(), content.pipelines.end());
    stored.insert(stored.end(), content.tuning.begin(), content.tuning.end());
    return stored;
}

std::optional<CacheContent> cacheContent(std::span<const uint8_t> bytes, const DeviceInfo& info) {
    CacheHeader header;
    if (bytes.size() < sizeof header) return std::nullopt;
    std::memcpy(&header, bytes.data(), sizeof header);
    const std::span<const uint8_t> rest = bytes.subspan(sizeof header);
    if (header.pipelines > rest.size()) return std::nullopt;
    const CacheContent content{rest.first(header.pipelines), rest.subspan(header.pipelines)};
    const CacheHeader wanted = headerFor(content, info);
    if (std::memcmp(&header, &wanted, sizeof wanted) != 0 || !driverHeaderFits(content.pipelines, info))
        return std::nullopt;
    return content;
}

}  // namespace mnnc::vulkan
