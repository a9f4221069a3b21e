// The properties of physical devices, read through an instance of this library or of the host.
#pragma once
#include <volk.h>

#include <string>
#include <vector>

#include "backend/backend.h"

namespace mnnc::vulkan {

// The properties and abilities of a physical device.
struct DeviceInfo {
    VkPhysicalDevice handle = VK_NULL_HANDLE;
    std::string name, driver;
    VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
    uint8_t uuid[VK_UUID_SIZE] = {};
    uint32_t apiVersion = 0, driverVersion = 0, vendorId = 0, deviceId = 0;
    uint8_t pipelineCacheUuid[VK_UUID_SIZE] = {};
    uint64_t localBytes = 0;     // the largest device-local heap
    uint64_t maxAllocation = 0;  // bytes of one allocation
    uint32_t queueFamily = 0;
    uint32_t timestampBits = 0;  // of the queue family; 0: it has no clock
    bool storage16 = false;      // 16-bit storage buffers
    bool float16 = false;        // fp16 arithmetic
    bool descriptors = false;    // memory of buffers can be imported from and exported as file descriptors
    uint32_t subgroupSize = 1;
    VkSubgroupFeatureFlags subgroupOperations = 0;  // in compute shaders
    VkPhysicalDeviceLimits limits{};
    VkPhysicalDeviceMemoryProperties memory{};

    std::string uuidText() const;
};

// The functions of an instance that describe its devices.
struct InstanceApi {
    explicit InstanceApi(VkInstance instance);
    explicit operator bool() const noexcept;  // whether all of them were found

    PFN_vkEnumeratePhysicalDevices enumerate;
    PFN_vkGetPhysicalDeviceProperties properties;
    PFN_vkGetPhysicalDeviceProperties2 properties2;
    PFN_vkGetPhysicalDeviceFeatures2 features2;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties queueFamilies;
    PFN_vkGetPhysicalDeviceMemoryProperties memory;
    PFN_vkGetPhysicalDeviceExternalBufferProperties externalBuffers;
};

std::vector<VkPhysicalDevice> physicalDevices(const InstanceApi& api, VkInstance instance);
std::vector<VkQueueFamilyProperties> queueFamilies(const InstanceApi& api, VkPhysicalDevice device);

// Finds a family that computes. One without graphics is preferred, because its queues do not wait behind a desktop.
bool findQueueFamily(const InstanceApi& api, VkPhysicalDevice device, DeviceInfo& info);
// Fills in everything except the queue family. Returns false when the device is older than Vulkan 1.1.
bool describe(const InstanceApi& api, VkPhysicalDevice device, DeviceInfo& info);

// Returns the descriptions for the public list of devices.
std::vector<DeviceDescription> describe(const std::vector<DeviceInfo>& devices);

// Returns a rank, larger is preferred: discrete, integrated, virtual, other, CPU.
int typeRank(VkPhysicalDeviceType type) noexcept;
const char* deviceTypeName(VkPhysicalDeviceType type) noexcept;

}  // namespace mnnc::vulkan
