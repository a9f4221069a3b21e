// Finds element-wise commands that feed one another, for the patterns of backends that compute them together.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "backend/fusion.h"
#include "plan/graph.h"

namespace mnnc {

// Limits of a backend for one chain.
struct ChainLimits {
    size_t steps = 24, inputs = 16, outputs = SIZE_MAX;
    size_t minCommands = 2;                            // a chain of one command may have any inputs
    bool literals = false;                             // known numbers are not counted as inputs
    std::function<bool(const Command&)> accepts = {};  // empty: every element-wise command
};

// Returns whether a tensor is a single number whose value is known while planning.
inline bool isKnownNumber(const Operand& tensor) {
    return tensor.elements() == 1 && tensor.hasConstantValue && tensor.values && !tensor.onDevice;
}

// Finds chains of commands with one or two float operands (UnaryOp, BinaryOp, activations) over tensors of one shape
// and single numbers. A chain grows while the results of all members but the last have consumers only in the chain or
// after it.
std::vector<FusionMatch> findElementwiseChains(const CommandGraph& graph, const ChainLimits& limits = {});

}  // namespace mnnc
