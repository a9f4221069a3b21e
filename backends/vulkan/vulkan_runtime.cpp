// Registers the Vulkan backend and lists its devices.
#include "backends/vulkan/vulkan_runtime.h"

#include "backend/shared_runtime.h"
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
    auto device = shared && shared->vulkan ? Device::ofHost(shared->vulkan)
                                           : Device::get(config.device, config.softwareDevices);
    if (shared && shared->log.wants(LogLevel::Info)) {
        const DeviceInfo& info = device->info();
        shared->log(LogLevel::Info,
                    format("Vulkan device '%s' (%s, %s), %s", info.name.c_str(), deviceTypeName(info.type),
                           info.driver.c_str(), shared->vulkan ? "of the host" : "of the library"));
    }
    return std::make_shared<VulkanRuntime>(std::move(device));
}

std::vector<DeviceDescription> listVulkanDevices(std::string& reason) {
    std::vector<DeviceDescription> list;
    try {
        const std::shared_ptr<Instance> instance = Instance::get();
        for (const DeviceInfo& info : instance->devices()) {
            DeviceDescription device;
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
            list.push_back(std::move(device));
        }
    } catch (const Error& error) {
        if (error.status() != Status::BackendMissing) throw;
        reason = error.message();
    }
    return list;
}

}  // namespace mnnc::vulkan
