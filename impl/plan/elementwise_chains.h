// Finds element-wise commands that feed one another, for the patterns of backends that compute them together.
#pragma once
#include <vector>

#include "backend/fusion.h"
#include "plan/graph.h"

namespace mnnc {

// Commands of one or two float operands (UnaryOp, BinaryOp, activations) over tensors of one shape and single numbers,
// joined as far as all but the last have consumers in the chain or behind it.
std::vector<FusionMatch> findElementwiseChains(const CommandGraph& graph);

}  // namespace mnnc
