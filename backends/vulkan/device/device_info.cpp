// Lists, describes and ranks physical devices.
#include "backends/vulkan/device/device_info.h"

#include <algorithm>

#include "backends/vulkan/device/memory.h"
#include "backends/vulkan/device/result.h"
#include "base/error.h"

namespace mnnc::vulkan {

namespace {

// Returns whether memory of storage buffers, without a dedicated allocation, can be shared by file descriptors.
bool sharesDescriptors(const InstanceApi& api, VkPhysicalDevice device) {
    VkPhysicalDeviceExternalBufferInfo info{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO};
    info.usage = kBufferUsage;
    info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
    VkExternalBufferProperties properties{VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
    api.externalBuffers(device, &info, &properties);
    constexpr VkExternalMemoryFeatureFlags kBoth =
        VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT | VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT;
    return (properties.externalMemoryProperties.externalMemoryFeatures &
            (kBoth | VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT)) == kBoth;
}

}  // namespace

std::string DeviceInfo::uuidText() const {
    std::string text;
    for (const uint8_t byte : uuid) text += format("%02x", byte);
    return text;
}

InstanceApi::InstanceApi(VkInstance instance) {
    const auto load = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(vkGetInstanceProcAddr(instance, name));
    };
    load(enumerate, "vkEnumeratePhysicalDevices");
    load(properties, "vkGetPhysicalDeviceProperties");
    load(properties2, "vkGetPhysicalDeviceProperties2");
    load(features2, "vkGetPhysicalDeviceFeatures2");
    load(queueFamilies, "vkGetPhysicalDeviceQueueFamilyProperties");
    load(memory, "vkGetPhysicalDeviceMemoryProperties");
    load(externalBuffers, "vkGetPhysicalDeviceExternalBufferProperties");
}

InstanceApi::operator bool() const noexcept {
    return enumerate && properties && properties2 && features2 && queueFamilies && memory && externalBuffers;
}

std::vector<VkPhysicalDevice> physicalDevices(const InstanceApi& api, VkInstance instance) {
    uint32_t count = 0;
    VkResult result = api.enumerate(instance, &count, nullptr);
    std::vector<VkPhysicalDevice> handles(count);
    if (count && result == VK_SUCCESS) result = api.enumerate(instance, &count, handles.data());
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY) check(result, "vkEnumeratePhysicalDevices");
    // VK_INCOMPLETE: another device appeared between the two calls.
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        fail(Status::BackendMissing, "the Vulkan driver lists no devices: %s (%d)", resultName(result),
             static_cast<int>(result));
    handles.resize(count);
    return handles;
}

std::vector<VkQueueFamilyProperties> queueFamilies(const InstanceApi& api, VkPhysicalDevice device) {
    uint32_t count = 0;
    api.queueFamilies(device, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    api.queueFamilies(device, &count, families.data());
    return families;
}

bool findQueueFamily(const InstanceApi& api, VkPhysicalDevice device, DeviceInfo& info) {
    const std::vector<VkQueueFamilyProperties> families = queueFamilies(api, device);
    for (const bool alone : {true, false})
        for (uint32_t i = 0; i < families.size(); ++i) {
            const VkQueueFlags flags = families[i].queueFlags;
            if (!(flags & VK_QUEUE_COMPUTE_BIT) || families[i].queueCount == 0) continue;
            if (alone && (flags & VK_QUEUE_GRAPHICS_BIT)) continue;
            info.queueFamily = i;
            info.timestampBits = families[i].timestampValidBits;
            return true;
        }
    return false;
}

bool describe(const InstanceApi& api, VkPhysicalDevice device, DeviceInfo& info) {
    VkPhysicalDeviceProperties basic;
    api.properties(device, &basic);
    if (basic.apiVersion < VK_API_VERSION_1_1) return false;
    const bool is12 = basic.apiVersion >= VK_API_VERSION_1_2;

    VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceMaintenance3Properties maintenance{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
    VkPhysicalDeviceIDProperties id{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    if (is12) subgroup.pNext = &driver;
    id.pNext = &maintenance;
    maintenance.pNext = &subgroup;
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &id, {}};
    api.properties2(device, &properties);

    VkPhysicalDeviceShaderFloat16Int8Features half{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
    VkPhysicalDevice16BitStorageFeatures storage{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
    if (is12) storage.pNext = &half;
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &storage, {}};
    api.features2(device, &features);

    info.handle = device;
    info.name = basic.deviceName;
    info.driver = driver.driverName;
    if (driver.driverInfo[0]) info.driver += std::string(" ") + driver.driverInfo;
    info.type = basic.deviceType;
    std::copy(std::begin(id.deviceUUID), std::end(id.deviceUUID), info.uuid);
    info.apiVersion = basic.apiVersion;
    info.maxAllocation = maintenance.maxMemoryAllocationSize;
    info.driverVersion = basic.driverVersion;
    info.vendorId = basic.vendorID;
    info.deviceId = basic.deviceID;
    std::copy(std::begin(basic.pipelineCacheUUID), std::end(basic.pipelineCacheUUID), info.pipelineCacheUuid);
    info.storage16 = storage.storageBuffer16BitAccess;
    info.float16 = half.shaderFloat16;
    info.descriptors = sharesDescriptors(api, device);
    info.subgroupSize = subgroup.subgroupSize;
    info.subgroupOperations = subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT ? subgroup.supportedOperations : 0;
    info.limits = basic.limits;
    api.memory(device, &info.memory);
    for (uint32_t i = 0; i < info.memory.memoryHeapCount; ++i)
        if (info.memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
            info.localBytes = std::max<uint64_t>(info.localBytes, info.memory.memoryHeaps[i].size);
    return true;
}

std::vector<DeviceDescription> describe(const std::vector<DeviceInfo>& devices) {
    std::vector<DeviceDescription> list;
    for (const DeviceInfo& info : devices) {
        DeviceDescription& device = list.emplace_back();
        device.name = info.name;
        device.driver = info.driver;
        device.kind = deviceTypeName(info.type);
        std::copy(std::begin(info.uuid), std::end(info.uuid), device.uuid);
        device.apiVersion = info.apiVersion;
        device.driverVersion = info.driverVersion;
        device.vendorId = info.vendorId;
        device.deviceId = info.deviceId;
        device.memoryBytes = info.localBytes;
        device.fp16Storage = info.storage16;
        device.fp16Arithmetic = info.float16;
        device.subgroupSize = info.subgroupSize;
        device.subgroupArithmetic = (info.subgroupOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0;
    }
    return list;
}

int typeRank(VkPhysicalDeviceType type) noexcept {
    switch (type) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
            return 4;
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
            return 3;
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
            return 2;
        case VK_PHYSICAL_DEVICE_TYPE_CPU:
            return 0;
        default:
            return 1;
    }
}

const char* deviceTypeName(VkPhysicalDeviceType type) noexcept {
    static constexpr const char* kNames[] = {"cpu", "other", "virtual", "integrated", "discrete"};
    return kNames[typeRank(type)];
}

}  // namespace mnnc::vulkan
