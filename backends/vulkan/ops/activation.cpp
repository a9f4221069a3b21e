// ReLU, ReLU6 (any clip), PReLU, ELU, Selu and Threshold on the device: float tensors of any storage.
#include "ops/activation.h"

#include "backends/vulkan/ops/channel_values.h"
#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/elementwise_quads.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/unary.h"

namespace mnnc::vulkan {

namespace {

// Creates an activation whose parameters are the same for all elements.
std::unique_ptr<Execution> createFormula(VulkanBackend& backend, const Command& command) {
    const UnaryFormula formula = unaryFormula(command.type, command.params.get(), command.name.c_str());
    return std::make_unique<ElementwiseQuads>(backend, command, "unary", *command.inputs[0],
                                              std::vector<uint32_t>{formula.code}, formula.a, formula.b);
}

std::unique_ptr<Execution> createPRelu(VulkanBackend& backend, const Command& command) {
    static const std::vector<float> kNone;
    const std::vector<float>& slopes = command.paramsAs<PReluParams>().slopes;
    if (slopes.size() == 1) return createFormula(backend, command);
    return std::make_unique<ChannelValues>(backend, command, ChannelMap::Slope, slopes, kNone);
}

}  // namespace

constexpr VulkanOp kActivations[] = {
    {OpType::ReLU, supportsFloat, storageFollow, createFormula},
    {OpType::ReLU6, supportsFloat, storageFollow, createFormula},
    {OpType::PReLU, supportsFloat, storageFollow, createPRelu},
    {OpType::ELU, supportsFloat, storageFollow, createFormula},
    {OpType::Selu, supportsFloat, storageFollow, createFormula},
    {OpType::Threshold, supportsFloat, storageFollow, createFormula},
};
extern constinit const VulkanFamily activationVulkan = kActivations;

}  // namespace mnnc::vulkan
