// The one list of compiled-in backends.
#include "backend/registry.h"
#include "backends/cpu/cpu_runtime.h"
#ifdef MNN_C_WITH_VULKAN
#include "backends/vulkan/vulkan_runtime.h"
#endif

namespace mnnc {

std::span<const BackendEntry> builtinBackends() noexcept {
    static constexpr BackendEntry kBackends[] = {
        {ForwardType::Cpu, "cpu", cpu::createCpuRuntime, nullptr},
#ifdef MNN_C_WITH_VULKAN
        {ForwardType::Vulkan, "vulkan", vulkan::createVulkanRuntime, vulkan::listVulkanDevices},
#endif
    };
    return kBackends;
}

ProcessorDescription describeProcessor() {
    return cpu::describeProcessor();
}

std::string calibrateProcessor(const std::string& isa, const std::function<void()>& check) {
    return cpu::calibrate(isa, check);
}

std::shared_ptr<const ProcessorCosts> readProcessorCosts(std::string_view text) {
    return cpu::readCosts(text);
}

}  // namespace mnnc
