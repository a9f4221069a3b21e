// A parsed model: every operator with its definition and its parameters as plain structs. Immutable, shared by
// sessions.
#pragma once
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "model/model.h"
#include "ops/op_def.h"

namespace mnnc {

// One node that computes what several nodes of the file compute.
struct Rewrite {
    Node node;
    size_t place = 0;              // the last of the nodes of the file that it replaces
    std::vector<size_t> replaced;  // the others
    std::vector<int> hidden;       // tensors that it does not produce; the file's nodes run where one is wanted
    std::vector<int> bypassed;     // tensors that it does not read; the file's nodes run where a caller feeds one
};

constexpr size_t kNoNode = SIZE_MAX;  // the index of no node

struct NetGraph {
    const Graph* source = nullptr;    // names, inputs, outputs
    std::vector<Node> nodes;          // in file order
    std::vector<Rewrite> rewrites;    // no node is in two of them
    std::vector<TensorQuant> quants;  // by tensor id; empty where no tensor of the graph is quantised
    std::vector<bool> coordinates;    // by tensor id: whether operators read it as coordinates (ops/coordinates.h)
    std::set<int> decisive;           // constants whose values decided about rewrites: they must not change
};

struct Net {
    std::shared_ptr<const Model> model;
    std::vector<NetGraph> graphs;  // as Model::graphs(): 0 is the main net
};

// Reads all parameter tables. Throws BadParameter and what the readers of the families throw; an operator that this
// library does not know becomes a Node without definition. `cancel` is checked between operators.
std::shared_ptr<const Net> parseNet(std::shared_ptr<const Model> model, const Cancellation& cancel = {});

// Reads the parameters of a node of graph `graph` again into another object, so that the weight store does not find
// weights that were prepared for the old one. For a node that a rewrite made, it returns the same object.
ParamsPtr renewedParams(const Net& net, size_t graph, const Node& node);

// Returns by tensor id whether a tensor is an input of the graph or a node produces it. This holds for all tensors but
// the views of very old static models.
std::vector<bool> madeTensors(const NetGraph& graph);
// Returns whether a node reads a tensor without a producer.
bool readsView(const Node& node, const std::vector<bool>& made);

}  // namespace mnnc
