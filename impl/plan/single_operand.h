// What composite fusions ask of the commands that they join.
#pragma once
#include "ir/command.h"

namespace mnnc {

// One float tensor in, one out; nothing is added, and no operand is read through Rasters.
inline bool hasOneFloatOperand(const Command& command) {
    return command.params && command.inputs.size() == 1 && command.outputs.size() == 1 && !command.epilogue.residual &&
           command.views.empty() && command.inputs[0]->type == DataType::Float32 &&
           command.outputs[0]->type == DataType::Float32;
}

}  // namespace mnnc
