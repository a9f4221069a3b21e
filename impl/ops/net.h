// A model parsed once: every op with its definition and its parameters as plain structs. Immutable, shared by
// sessions.
#pragma once
#include <memory>
#include <vector>

#include "model/model.h"
#include "ops/op_def.h"

namespace mnnc {

struct NetGraph {
    const Graph* source = nullptr;  // names, inputs, outputs
    std::vector<Node> nodes;        // in the order of the file
};

struct Net {
    std::shared_ptr<const Model> model;
    std::vector<NetGraph> graphs;  // as Model::graphs(): 0 is the main net
};

// Reads all parameter tables. Throws BadParameter and what the families' readers throw; operators this
// library does not know get a Node without definition.
std::shared_ptr<const Net> parseNet(std::shared_ptr<const Model> model);

}  // namespace mnnc
