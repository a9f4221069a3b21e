// Conditions that composite fusions put on the commands that they join.
#pragma once
#include "ir/command.h"

namespace mnnc {

// Returns whether the command has one float tensor as input and one as output, no residual, and no operand that it
// reads through Rasters.
inline bool hasOneFloatOperand(const Command& command) {
    return command.params && command.inputs.size() == 1 && command.outputs.size() == 1 && !command.epilogue.residual &&
           command.views.empty() && command.inputs[0]->type == DataType::Float32 &&
           command.outputs[0]->type == DataType::Float32;
}

}  // namespace mnnc
