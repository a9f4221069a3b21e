// ReLU, ReLU6 (any clip), PReLU, ELU, Selu and Threshold on the device: float tensors of any storage.
#include "ops/activation.h"

#include "backends/vulkan/ops/channel_values.h"
#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/quad_map.h"

namespace mnnc::vulkan {

namespace {

// Codes of unary.comp behind those of UnaryOp.
constexpr uint32_t kElu = 35, kThreshold = 36;

std::unique_ptr<Execution> createRelu(VulkanBackend& backend, const Command& command) {
    return std::make_unique<QuadMap>(backend, command, "activation_relu", DataType::Float32,
                                     std::vector<uint32_t>{0}, command.paramsAs<ReluParams>().slope);
}

std::unique_ptr<Execution> createClip(VulkanBackend& backend, const Command& command) {
    const auto& params = command.paramsAs<ClipParams>();
    return std::make_unique<QuadMap>(backend, command, "activation_relu", DataType::Float32,
                                     std::vector<uint32_t>{1}, params.lo, params.hi);
}

std::unique_ptr<Execution> createPRelu(VulkanBackend& backend, const Command& command) {
    static const std::vector<float> kNone;
    const std::vector<float>& slopes = command.paramsAs<PReluParams>().slopes;
    if (slopes.size() == 1)
        return std::make_unique<QuadMap>(backend, command, "activation_relu", DataType::Float32,
                                         std::vector<uint32_t>{0}, slopes[0]);
    return std::make_unique<ChannelValues>(backend, command, ChannelMap::Slope, slopes, kNone);
}

std::unique_ptr<Execution> createElu(VulkanBackend& backend, const Command& command) {
    const auto& params = command.paramsAs<EluParams>();
    const uint32_t code = command.type == OpType::Threshold ? kThreshold : kElu;
    return std::make_unique<QuadMap>(backend, command, "unary", DataType::Float32,
                                     std::vector<uint32_t>{code}, params.alpha, params.scale);
}

constexpr VulkanOp kActivations[] = {
    {OpType::ReLU, supportsFloat, storageFollow, createRelu},
    {OpType::ReLU6, supportsFloat, storageFollow, createClip},
    {OpType::PReLU, supportsFloat, storageFollow, createPRelu},
    {OpType::ELU, supportsFloat, storageFollow, createElu},
    {OpType::Selu, supportsFloat, storageFollow, createElu},
    {OpType::Threshold, supportsFloat, storageFollow, createElu},
};

}  // namespace

VulkanFamily activationVulkan() {
    return kActivations;
}

}  // namespace mnnc::vulkan
