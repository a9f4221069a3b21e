// Smaller limits than those of the device, so that tests reach every split and every fallback to the CPU.
#pragma once
#include <cstdint>
#include <string>

namespace mnnc {

// 0: the device's own.
struct DeviceLimits {
    int64_t storageRange = 0;
    int64_t groupCount = 0, groupInvocations = 0;
    int64_t sharedMemory = 0, storageBuffers = 0;
    bool noSubgroups = false;
    bool stageWeights = false;  // copied from staging memory although the host could write them
    std::string refuse;         // commands with this text in their names run on the CPU

    bool operator==(const DeviceLimits&) const = default;
};

}  // namespace mnnc
