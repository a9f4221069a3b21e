// Scale (also BatchNorm) on the device: float tensors of any storage.
#include "ops/scale.h"

#include "backends/vulkan/ops/channel_values.h"
#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"

namespace mnnc::vulkan {

namespace {

std::unique_ptr<Execution> createScale(VulkanBackend& backend, const Command& command) {
    const auto& params = command.paramsAs<ScaleParams>();
    return std::make_unique<ChannelValues>(backend, command, ChannelMap::Affine, params.scale, params.bias);
}

// The rule is that of the CPU, which executes the command where the device cannot.
bool supportsScalePostOps(const VulkanBackend&, const Command& command) {
    return !command.epilogue.residual;
}

}  // namespace

constexpr VulkanOp kScale[] = {{OpType::Scale, supportsFloat, storageFollow, createScale, supportsScalePostOps}};
extern constinit const VulkanFamily scaleVulkan = kScale;

}  // namespace mnnc::vulkan
