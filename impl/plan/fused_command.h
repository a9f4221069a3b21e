// Replaces members of a graph by one command of type Fused.
#pragma once
#include <vector>

#include "backend/fusion.h"
#include "plan/graph.h"

namespace mnnc {

// Returns the tensors that members read and no member writes, each once, in the order in which they are read first.
std::vector<Operand*> fusedInputs(const CommandGraph& graph, const std::vector<CommandGraph::Id>& members);
// Returns the command that computes all members.
Command fusedCommand(const CommandGraph& graph, const FusionPattern& pattern, const FusionMatch& match);
// Replaces the members by this command, at the place of the last member.
void replaceMembers(CommandGraph& graph, const std::vector<CommandGraph::Id>& members, Command fused);

}  // namespace mnnc
