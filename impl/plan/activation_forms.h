// The forms in which converters write additions and activations, as far as passes recognise them.
#pragma once
#include <vector>

#include "ops/binary.h"
#include "plan/graph.h"

namespace mnnc {

// Returns the parameters of a BinaryOp over two float operands; null for other commands.
const BinaryParams* floatBinary(const Command& command);

// Returns whether a command multiplies tensors a and b, and does nothing else.
bool isProduct(const Command& command, const Operand* a, const Operand* b);

// clip(x / 6 + 1 / 2, 0, 1), optionally times x: the hard sigmoid, and hard-swish (Howard et al., "Searching for
// MobileNetV3", arXiv 1905.02244). The factors are spread over its commands in any way.
struct HardActivation {
    Operand* x = nullptr;
    bool timesX = false;
    // Its commands in order; the last one produces the result. Empty: there is no such form.
    std::vector<CommandGraph::Id> steps;
};
// Returns the longest such form whose first command is `first`.
HardActivation hardActivation(const CommandGraph& graph, CommandGraph::Id first);

// Commands that compute one function of x; the last one produces the result. No steps: there is no such form.
struct UnaryForm {
    Operand* x = nullptr;
    std::vector<CommandGraph::Id> steps;
};
// Finds x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) around a command that computes this tanh (gelu_form.cpp).
UnaryForm geluTanhForm(const CommandGraph& graph, CommandGraph::Id tanh);

}  // namespace mnnc
