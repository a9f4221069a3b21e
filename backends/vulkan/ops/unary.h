// The codes of unary.glsl, and the formulas of the operators of one float operand with them.
#pragma once
#include "ir/command.h"

namespace mnnc::vulkan {

// These codes follow those of UnaryOp.
constexpr uint32_t kUnaryElu = 35, kUnaryThreshold = 36, kUnaryRelu = 37, kUnaryClamp = 38;

struct UnaryFormula {
    uint32_t code = 0;
    float a = 0, b = 0;
};

// Returns the formula of UnaryOp, ReLU, ReLU6, ELU, Selu, Threshold, or PReLU with one slope; `name` is for messages.
UnaryFormula unaryFormula(OpType type, const Params* params, const char* name);

}  // namespace mnnc::vulkan
