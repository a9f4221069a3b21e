// Decides which commands run on the device.
#pragma once
#include <algorithm>
#include <string>

#include "backend/backend.h"

namespace mnnc {

// Commands over small integer tensors compute shapes, not data: they stay on the host.
inline bool isHostShape(const Command& command) {
    const auto isSmall = [](const Operand* tensor) {
        return tensor->type == DataType::Int32 && tensor->elements() <= 64;
    };
    return std::all_of(command.inputs.begin(), command.inputs.end(), isSmall) &&
           std::all_of(command.outputs.begin(), command.outputs.end(), isSmall);
}

// Returns whether the device should run the command; if its backend refuses it, `reason` gets a sentence.
inline bool deviceTakes(const Backend& device, const Command& command, std::string& reason) {
    return !isHostShape(command) && device.supports(command, reason);
}

}  // namespace mnnc
