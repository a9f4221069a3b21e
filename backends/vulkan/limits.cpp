// Reads each limit from the device, or takes the smaller one that a test sets.
#include "backends/vulkan/limits.h"

#include <algorithm>

namespace mnnc::vulkan {

namespace {

template <typename T>
T clamped(T device, int64_t forced) {
    return forced > 0 ? static_cast<T>(std::min<int64_t>(device, forced)) : device;
}

}  // namespace

Limits::Limits(const DeviceInfo& info, const DeviceLimits& forced) {
    const VkPhysicalDeviceLimits& own = info.limits;
    storageRange = clamped<int64_t>(own.maxStorageBufferRange, forced.storageRange);
    groupCount = clamped(
        std::min({own.maxComputeWorkGroupCount[0], own.maxComputeWorkGroupCount[1], own.maxComputeWorkGroupCount[2]}),
        forced.groupCount);
    groupInvocations =
        clamped(std::min(own.maxComputeWorkGroupInvocations, own.maxComputeWorkGroupSize[0]), forced.groupInvocations);
    sharedMemory = clamped(own.maxComputeSharedMemorySize, forced.sharedMemory);
    storageBuffers = clamped(std::min(own.maxPerStageDescriptorStorageBuffers, own.maxDescriptorSetStorageBuffers),
                             forced.storageBuffers);
    subgroupArithmetic = !forced.noSubgroups && (info.subgroupOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0;
}

}  // namespace mnnc::vulkan
