// Finds the operators of a model that a session computes together.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "net_graph.h"

namespace tool {

// The operators of a plan by type and name: graph and group of each, in the order of execution.
using PlannedOps = std::map<std::pair<std::string, std::string>, std::vector<std::pair<size_t, size_t>>>;

// Makes the groups of a graph from the operators of its plan. `calls` are those of the report "graph" of a session.
void groupOperators(std::vector<NetGraph>& graphs, size_t graph, const nlohmann::json& calls, PlannedOps& planned);

}  // namespace tool
