// Parameters of If and While. session/ executes them, so backends never see them.
#pragma once
#include <string>
#include <vector>

#include "ops/op_def.h"

namespace mnnc {

namespace wire {
struct LoopParam;
}

using NameLists = std::vector<std::vector<std::string>>;

struct IfParams : ParamsOf<IfParams> {
    std::string thenGraph, elseGraph;
    NameLists inputAliases;   // [op input] -> formal inputs of either branch
    NameLists outputAliases;  // [op output] -> {output of then, output of else}; empty: by position
};

// condGraph empty: the loop of ONNX (trip limit, condition, carried values), all by position. Otherwise the loop of
// TensorFlow, by names.
struct WhileParams : ParamsOf<WhileParams> {
    std::string condGraph, bodyGraph;
    NameLists inputAliases;                  // [op input] -> formal inputs of condition and body
    std::vector<std::string> outputAliases;  // [op output] -> body output or body input
    NameLists updates;                       // {output, formal input it replaces}
};

// Returns whether the session runs subgraphs for a node. While also has a form without them, LoopParam, which is a
// separate command (region_loop.cpp).
inline bool runsSubgraphs(const Node& node) {
    return node.type == OpType::If || (node.type == OpType::While && node.paramsIf<WhileParams>());
}
ParamsPtr parseRegionLoop(const wire::LoopParam& table, const ParseContext& context);
void shapeRegionLoop(const ShapeContext& context);
double regionLoopFlops(const ShapeContext& context);
std::vector<size_t> writtenByRegionLoop(const Params& params);
bool keepRestOfRegionLoop(Node& node, std::span<const EarlierOutput> outputs);

}  // namespace mnnc
