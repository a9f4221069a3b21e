// Smaller limits than the device has, so that tests reach every split and every fallback to the CPU.
#pragma once
#include <cstdint>
#include <string>

namespace mnnc {

// 0: the device's own limit.
struct DeviceLimits {
    int64_t storageRange = 0;
    int64_t groupCount = 0, groupInvocations = 0;
    int64_t sharedMemory = 0, storageBuffers = 0;
    bool noSubgroups = false;
    bool stageWeights = false;  // copies from staging memory although the host could write them
    std::string refuse;         // commands whose names contain this text run on the CPU

    bool operator==(const DeviceLimits&) const = default;
};

}  // namespace mnnc
