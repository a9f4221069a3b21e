// Finds element-wise commands that feed one another, for the patterns of backends that compute them together.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "backend/fusion.h"
#include "plan/graph.h"

namespace mnnc {

// What a backend computes in one chain.
struct ChainLimits {
    size_t steps = 24, inputs = 16, outputs = SIZE_MAX;
    size_t least = 2;                                  // commands; those of one alone may have any inputs
    bool literals = false;                             // known numbers are not counted as inputs
    std::function<bool(const Command&)> accepts = {};  // empty: every element-wise command
};

// A single number whose value is known while planning.
inline bool isKnownNumber(const Operand& tensor) {
    return tensor.elements() == 1 && tensor.hasConstantValue && tensor.values && !tensor.onDevice;
}

// Commands of one or two float operands (UnaryOp, BinaryOp, activations) over tensors of one shape and single numbers,
// joined as far as all but the last have consumers in the chain or behind it.
std::vector<FusionMatch> findElementwiseChains(const CommandGraph& graph, const ChainLimits& limits = {});

}  // namespace mnnc
