// The Vulkan loader, one VkInstance and its devices. All devices in use share it; when it is needed after the last one
// was destroyed, it is created again.
#pragma once
#include <volk.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "backend/host_vulkan.h"
#include "backends/vulkan/device/device_info.h"

namespace mnnc::vulkan {

// Returns the device among the host's objects, after checking everything that can be checked. Errors: Device::ofHost().
DeviceInfo describeHostDevice(const HostVulkan& host);

class Instance {
  public:
    // Returns the instance in use, or a new one. Throws Error(BackendMissing) with the reason: no loader, no driver, or
    // no validation layer though one is requested (environment variable MNN_C_VULKAN_VALIDATION, for developers). The
    // devices that a new instance finds are kept (found_devices.h), or the reason why its drivers have none; a missing
    // loader is not, because it is found out without loading a driver.
    static std::shared_ptr<Instance> get();
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    // Returns all devices with a compute queue and Vulkan 1.1, in the loader's order.
    const std::vector<DeviceInfo>& devices() const noexcept { return devices_; }
    // Returns a device by index, UUID (32 hexadecimal digits) or a part of the name; for "" the best: discrete,
    // integrated, virtual, other, CPU; then the larger memory. Throws Error(BackendMissing) when none fits, or when
    // the best for "" is a CPU and `software` is false.
    size_t choose(const std::string& wanted, bool software) const;

    // Returns the number of messages of the validation layer since the process started.
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
