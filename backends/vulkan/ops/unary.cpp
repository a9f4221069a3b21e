// UnaryOp on the device: float32 in any storage, and the int32 codes that the CPU has.
#include "backends/vulkan/ops/unary.h"

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/elementwise_quads.h"
#include "backends/vulkan/ops/families.h"
#include "ops/activation.h"
#include "ops/unary.h"

namespace mnnc::vulkan {

namespace {

bool supportsUnary(const VulkanBackend&, const Command& command, std::string& reason) {
    const int code = command.paramsAs<UnaryParams>().code;
    const DataType type = command.inputs[0]->type;
    if (type == DataType::Int32 && code != 0 && code != 1 && code != 4 && code != 22)
        return refuse(reason, format("unary code %d does not exist for %s", code, dataTypeName(type)));
    return noEmptyInput(command, reason);
}

std::unique_ptr<Execution> createUnary(VulkanBackend& backend, const Command& command) {
    const auto code = static_cast<uint32_t>(command.paramsAs<UnaryParams>().code);
    return std::make_unique<ElementwiseQuads>(backend, command, "unary", *command.inputs[0],
                                              std::vector<uint32_t>{code});
}

}  // namespace

constexpr VulkanOp kUnary[] = {{OpType::UnaryOp, supportsUnary, storageFollow, createUnary}};
extern constinit const VulkanFamily unaryVulkan = kUnary;

UnaryFormula unaryFormula(OpType type, const Params* params, const char* name) {
    switch (type) {
        case OpType::UnaryOp:
            return {static_cast<uint32_t>(paramsAs<UnaryParams>(params, name).code)};
        case OpType::ReLU:
            return {kUnaryRelu, paramsAs<ReluParams>(params, name).slope};
        case OpType::PReLU:
            return {kUnaryRelu, paramsAs<PReluParams>(params, name).slopes[0]};
        case OpType::ReLU6: {
            const auto& clip = paramsAs<ClipParams>(params, name);
            return {kUnaryClamp, clip.lo, clip.hi};
        }
        default: {  // ELU, Selu, Threshold
            const auto& elu = paramsAs<EluParams>(params, name);
            return {type == OpType::Threshold ? kUnaryThreshold : kUnaryElu, elu.alpha, elu.scale};
        }
    }
}

}  // namespace mnnc::vulkan
