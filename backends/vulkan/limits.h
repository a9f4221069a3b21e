// The device limits that kernels and executions obey: the device's own, or smaller ones that a test sets.
#pragma once
#include <cstdint>

#include "backend/device_limits.h"
#include "backends/vulkan/device/instance.h"

namespace mnnc::vulkan {

struct Limits {
    int64_t storageRange = 0;  // bytes of one binding
    uint32_t groupCount = 0;   // work groups per axis
    uint32_t groupInvocations = 0;
    uint32_t sharedMemory = 0;    // bytes
    uint32_t storageBuffers = 0;  // bindings of one kernel
    bool subgroupArithmetic = false;

    Limits(const DeviceInfo& info, const DeviceLimits& forced);
};

}  // namespace mnnc::vulkan
