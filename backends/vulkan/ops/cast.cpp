// Cast between float32 and int32, and to bool, in any storage.
#include "ops/cast.h"

#include "backends/vulkan/ops/checks.h"
#include "backends/vulkan/ops/elementwise_quads.h"
#include "backends/vulkan/ops/families.h"

namespace mnnc::vulkan {

namespace {

bool toBool(const Command& command) {
    const auto* params = command.paramsIf<CastParams>();
    return params && params->toBool;
}

bool supportsCast(const VulkanBackend&, const Command& command, std::string& reason) {
    const DataType from = command.inputs[0]->type, to = command.outputs[0]->type;
    if (toBool(command) ? to != DataType::Int32 : from == to)
        return refuse(reason, format("the Vulkan kernel casts no %s to %s", dataTypeName(from), dataTypeName(to)));
    return noEmptyInput(command, reason);
}

std::unique_ptr<Execution> createCast(VulkanBackend& backend, const Command& command) {
    if (command.outputs[0]->type == DataType::Float32)
        return std::make_unique<ElementwiseQuads>(backend, command, "cast_to_float", *command.outputs[0],
                                                  std::vector<uint32_t>{});
    return std::make_unique<ElementwiseQuads>(backend, command, "cast_to_int", *command.inputs[0],
                                              std::vector<uint32_t>{toBool(command)});
}

}  // namespace

constexpr VulkanOp kCast[] = {{OpType::Cast, supportsCast, storageFollow, createCast}};
extern constinit const VulkanFamily castVulkan = kCast;

}  // namespace mnnc::vulkan
