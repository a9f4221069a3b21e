// How the parts of a graph look: the words and colours of operators and groups, and the edges between operators.
#pragma once
#include <compare>
#include <string>
#include <vector>

#include "net_graph.h"

namespace tool {

struct Look {
    const char* key;   // where it runs, or why it does not
    const char* fill;  // colours as "#rrggbb"
    const char* line;
    const char* meaning;
};

// All of them, for a legend.
const std::vector<Look>& looks();
// Of an operator of a graph. Backends that this tool does not know look alike.
const Look& lookOf(const Net& net, const NetGraph& graph, const GraphOp& op);
// From white (no time) to red (the longest time of a group).
std::string heatColour(const Net& net, double ms);

struct GraphEdge {
    size_t from, to;  // operators
    size_t tensor;
    auto operator<=>(const GraphEdge& other) const = default;
};

// Between operators that are drawn.
std::vector<GraphEdge> edgesOf(const NetGraph& graph);
// "1x8x3x3 float32"; "" where it is not known.
std::string tensorText(const GraphTensor& tensor);
// "main graph", "body 'x' of While 'y'".
std::string titleOf(const Net& net, size_t graph);
// "0.123 ms, 4.5%"
std::string timeText(const Net& net, double ms);

}  // namespace tool
