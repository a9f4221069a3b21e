// The Vulkan loader and one VkInstance, and the devices it lists. Shared by all devices in use; created again
// when it is needed after the last one was destroyed.
#pragma once
#include <volk.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "backend/host_vulkan.h"
#include "backends/vulkan/device/device_info.h"

namespace mnnc::vulkan {

// The device among the host's objects, when everything that can be checked of them is right. Errors: Device::ofHost().
DeviceInfo describeHostDevice(const HostVulkan& host);

class Instance {
  public:
    // The instance in use, or a new one. Throws Error(BackendMissing) with the reason: no loader, no driver,
    // no validation layer though it is asked for (environment variable MNN_C_VULKAN_VALIDATION, for
    // developers). What a new one finds is kept (found_devices.h), why there is none, too.
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
    void destroy() noexcept;
    void listDevices();

    VkInstance handle_ = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    std::vector<DeviceInfo> devices_;
    int process_ = 0;
};

}  // namespace mnnc::vulkan
