// Registers the Vulkan backend and lists its devices.
#include "backends/vulkan/vulkan_runtime.h"

#include "backend/shared_runtime.h"
#include "backends/vulkan/device/driver_surroundings.h"
#include "backends/vulkan/device/found_devices.h"
#include "backends/vulkan/vulkan_backend.h"
#include "base/error.h"

namespace mnnc::vulkan {

namespace {

class VulkanRuntime final : public Runtime {
  public:
    explicit VulkanRuntime(std::shared_ptr<Device> device) : device_(std::move(device)) {}

    std::unique_ptr<Backend> createBackend(const BackendConfig& config, WeightStore& weights) override {
        return std::make_unique<VulkanBackend>(device_, config, weights);
    }
    bool setCache(const std::vector<uint8_t>& bytes) override { return device_->pipelines().merge(bytes); }

  private:
    const std::shared_ptr<Device> device_;
};

}  // namespace

std::shared_ptr<Runtime> createVulkanRuntime(const BackendConfig& config) {
    const SharedRuntime* const shared = config.shared.get();
    if (shared && shared->vulkanRuntime) return shared->vulkanRuntime;
    auto device =
        shared && shared->vulkan ? Device::ofHost(shared->vulkan) : Device::get(config.device, config.softwareDevices);
    if (shared && shared->log.wants(LogLevel::Info)) {
        const DeviceInfo& info = device->info();
        shared->log(LogLevel::Info,
                    format("Vulkan device '%s' (%s, %s), %s", info.name.c_str(), deviceTypeName(info.type),
                           info.driver.c_str(), shared->vulkan ? "of the host" : "of the library"));
    }
    return std::make_shared<VulkanRuntime>(std::move(device));
}

std::vector<DeviceDescription> listVulkanDevices(std::string& reason) {
    FoundDevices found;
    if (!lastFound(driverSurroundings(), found)) {
        try {
            found.devices = describe(Instance::get()->devices());
        } catch (const Error& error) {
            if (error.status() != Status::BackendMissing) throw;
            found.reason = error.message();
        }
    }
    reason = std::move(found.reason);
    return std::move(found.devices);
}

}  // namespace mnnc::vulkan
