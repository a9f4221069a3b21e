// Writes a graph in the language of Graphviz, and draws it with Graphviz's program dot.
#pragma once
#include <string>

#include "net_graph.h"

namespace tool {

// title: the line above the picture.
std::string dotText(const Net& net, const std::string& title);
// Returns the picture that the program dot draws. Throws ToolError where there is no such program, or it fails or takes
// too long.
std::string drawnByDot(const std::string& dot);

}  // namespace tool
