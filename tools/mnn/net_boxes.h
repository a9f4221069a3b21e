// The words and colours of operators and groups in a drawn graph, and the edges between operators.
#pragma once
#include <compare>
#include <string>
#include <vector>

#include "net_graph.h"

namespace tool {

// Operators of one backend look alike.
struct Look {
    const char* key;   // the backend, or why the operator does not run
    const char* fill;  // colours as "#rrggbb"
    const char* line;
    const char* meaning;
};

// Returns all looks, for a legend.
const std::vector<Look>& looks();
// Returns the look of an operator of a graph. Backends that this tool does not know look alike.
const Look& lookOf(const Net& net, const NetGraph& graph, const GraphOp& op);
// Returns a colour from white (no time) to red (the longest time of a group).
std::string heatColour(const Net& net, double ms);

struct GraphEdge {
    size_t from, to;  // the numbers of the operators
    size_t tensor;    // the number of the tensor between them
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the comparison with 0 for one of pointers
    auto operator<=>(const GraphEdge& other) const = default;
};

// Returns the edges between operators that are drawn.
std::vector<GraphEdge> edgesOf(const NetGraph& graph);
// Returns a text such as "1x8x3x3 float32"; "" where the tensor is not known.
std::string tensorText(const GraphTensor& tensor);
// Returns a text such as "main graph" or "graph 'x' of While 'y'".
std::string titleOf(const Net& net, size_t graph);
// Returns a text such as "0.123 ms, 4.5%".
std::string timeText(const Net& net, double ms);

}  // namespace tool
