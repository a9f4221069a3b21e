// How members of a graph become one command of type Fused.
#pragma once
#include <vector>

#include "backend/fusion.h"
#include "plan/graph.h"

namespace mnnc {

// The tensors that the members read and none of them writes, each once, in the order in which they are read first.
std::vector<Operand*> fusedInputs(const CommandGraph& graph, const std::vector<CommandGraph::Id>& members);
// The command that computes what the members do.
Command fusedCommand(const CommandGraph& graph, const FusionPattern& pattern, const FusionMatch& match);
// Puts it, or one like it, in the place of the last member.
void replaceMembers(CommandGraph& graph, const std::vector<CommandGraph::Id>& members, Command fused);

}  // namespace mnnc
