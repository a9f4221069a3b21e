// Checks that the `supports` functions of many operators share.
#pragma once
#include <algorithm>

#include "backends/vulkan/vulkan_backend.h"
#include "base/error.h"

namespace mnnc::vulkan {

// An empty tensor has no memory to bind.
inline bool noEmptyInput(const Command& command, std::string& reason) {
    const bool none =
        std::none_of(command.inputs.begin(), command.inputs.end(), [](const Operand* input) { return input->empty(); });
    if (!none) reason = "the Vulkan kernel takes no empty inputs";
    return none;
}

// Requires float32 for input 0 and output 0, and no empty input.
inline bool supportsFloat(const VulkanBackend&, const Command& command, std::string& reason) {
    for (const Operand* tensor : {command.inputs[0], command.outputs[0]})
        if (tensor->type != DataType::Float32)
            return refuse(reason,
                          format("the Vulkan kernel takes float32 tensors, not %s", dataTypeName(tensor->type)));
    return noEmptyInput(command, reason);
}

}  // namespace mnnc::vulkan
