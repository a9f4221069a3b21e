// The inputs of a fused command, which number the values of its body.
#pragma once
#include <vector>

#include "plan/graph.h"

namespace mnnc {

// The tensors that the members read and none of them writes, each once, in the order in which they are read first.
std::vector<Tensor*> fusedInputs(const CommandGraph& graph, const std::vector<CommandGraph::Id>& members);

}  // namespace mnnc
