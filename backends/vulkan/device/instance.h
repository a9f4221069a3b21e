// The Vulkan loader and one VkInstance, and the devices it lists. Shared by all devices in use; created again
// when it is needed after the last one was destroyed.
#pragma once
#include <volk.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "backend/host_vulkan.h"

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
    bool descriptors = false;    // memory of buffers can come from, and become, file descriptors
    uint32_t subgroupSize = 1;
    VkSubgroupFeatureFlags subgroupOperations = 0;  // in compute shaders
    VkPhysicalDeviceLimits limits{};
    VkPhysicalDeviceMemoryProperties memory{};

    std::string uuidText() const;
};

// The functions of an instance that describe its devices.
struct InstanceApi {
    explicit InstanceApi(VkInstance instance);
    explicit operator bool() const noexcept;  // whether all of them are there

    PFN_vkEnumeratePhysicalDevices enumerate;
    PFN_vkGetPhysicalDeviceProperties properties;
    PFN_vkGetPhysicalDeviceProperties2 properties2;
    PFN_vkGetPhysicalDeviceFeatures2 features2;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties queueFamilies;
    PFN_vkGetPhysicalDeviceMemoryProperties memory;
    PFN_vkGetPhysicalDeviceExternalBufferProperties externalBuffers;
};

// The device among the host's objects, when everything that can be checked of them is right. Errors: Device::ofHost().
DeviceInfo describeHostDevice(const HostVulkan& host);

const char* deviceTypeName(VkPhysicalDeviceType type) noexcept;

class Instance {
  public:
    // The instance in use, or a new one. Throws Error(BackendMissing) with the reason: no loader, no driver,
    // no validation layer though it is asked for (environment variable MNN_C_VULKAN_VALIDATION, for
    // developers).
    static std::shared_ptr<Instance> get();
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    // All devices with a compute queue and Vulkan 1.1, in the loader's order.
    const std::vector<DeviceInfo>& devices() const noexcept { return devices_; }
    // By index, UUID (32 hexadecimal digits) or a part of the name; "" the best: discrete, integrated,
    // virtual, CPU (only with `software`); then the larger memory. Throws Error(BackendMissing) when none
    // fits.
    size_t choose(const std::string& wanted, bool software) const;

    // Messages of the validation layer since the process started.
    static uint64_t validationMessages() noexcept;

  private:
    Instance();
    void create();
    void listDevices();

    VkInstance handle_ = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    std::vector<DeviceInfo> devices_;
    int process_ = 0;
};

}  // namespace mnnc::vulkan
