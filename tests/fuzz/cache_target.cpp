// Stored pipeline caches: data that passes the checks, which alone reaches a driver, equals the stored data byte for
// byte. Sessions with damaged caches are in tests/c_abi/.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "backends/vulkan/device/cache_header.h"
#include "backends/vulkan/device/instance.h"
#include "backends/vulkan/device/tuning_record.h"
#include "random.h"
#include "target.h"

using namespace mnnc::vulkan;

namespace {

struct Counters {
    size_t executions = 0, accepted = 0;
    ~Counters() {
        if (executions > 1)
            std::fprintf(stderr, "cache: %zu executions, %zu accepted by the checks\n", executions, accepted);
    }
};
Counters counters;

DeviceInfo device() {
    DeviceInfo info;
    info.vendorId = 0x10005;
    info.driverVersion = 7;
    info.apiVersion = 1u << 22 | 3u << 12;
    for (size_t i = 0; i < VK_UUID_SIZE; ++i) info.pipelineCacheUuid[i] = static_cast<uint8_t>(i * 17);
    return info;
}

// Returns the driver's bytes with the beginning that Vulkan requires, followed by `rest`.
std::vector<uint8_t> driversBytes(const uint8_t* rest, size_t size) {
    const DeviceInfo info = device();
    const uint32_t words[] = {16 + VK_UUID_SIZE, VK_PIPELINE_CACHE_HEADER_VERSION_ONE, info.vendorId, info.deviceId};
    std::vector<uint8_t> bytes(sizeof words + VK_UUID_SIZE + size);
    std::memcpy(bytes.data(), words, sizeof words);
    std::memcpy(bytes.data() + sizeof words, info.pipelineCacheUuid, VK_UUID_SIZE);
    std::copy(rest, rest + size, bytes.data() + sizeof words + VK_UUID_SIZE);
    return bytes;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    ++counters.executions;
    const DeviceInfo info = device();
    const std::vector<uint8_t> bytes(data, data + size);
    const std::optional<CacheContent> opened = cacheContent(bytes, info);
    if (!opened) return 0;
    ++counters.accepted;
    TuningRecord record;
    if (record.merge(opened->tuning)) {
        TuningRecord same;
        if (!same.merge(record.bytes()) || same.bytes() != record.bytes()) std::abort();
    }
    const std::vector<uint8_t> again = storedCache(*opened, info);
    if (!std::equal(again.begin(), again.end(), bytes.begin(), bytes.end())) std::abort();
    DeviceInfo other = info;
    ++other.driverVersion;
    if (cacheContent(bytes, other)) std::abort();
    return 0;
}

// Makes damaged caches, and stored caches that are right except for one byte, or completely.
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize, unsigned seed) {
    fuzz::Random random(seed);
    if (random.oneIn(2)) return LLVMFuzzerMutate(data, size, maxSize);
    std::vector<uint8_t> driver = driversBytes(data, std::min<size_t>(size, 64));
    if (random.oneIn(4)) driver.resize(random.below(driver.size() + 1));
    if (random.oneIn(4) && !driver.empty()) random.pick(driver) ^= static_cast<uint8_t>(1u << random.below(8));
    TuningRecord record;
    for (int i = random.below(3); i > 0; --i) record.keep(std::string(random.below(9), 'p'), static_cast<uint32_t>(i));
    std::vector<uint8_t> tuning = record.bytes();
    if (random.oneIn(4) && !tuning.empty()) random.pick(tuning) ^= static_cast<uint8_t>(1u << random.below(8));
    std::vector<uint8_t> stored = storedCache({driver, tuning}, device());
    if (random.oneIn(2)) random.pick(stored) ^= static_cast<uint8_t>(1u << random.below(8));
    if (random.oneIn(8)) stored.resize(random.below(stored.size() + 1));
    if (stored.size() > maxSize) stored.resize(maxSize);
    std::memcpy(data, stored.data(), stored.size());
    return stored.size();
}
