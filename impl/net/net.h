// A model parsed once: every op with its definition and its parameters as plain structs. Immutable, shared by
// sessions.
#pragma once
#include <memory>
#include <set>
#include <vector>

#include "model/model.h"
#include "ops/op_def.h"

namespace mnnc {

// One node that computes what several nodes of the file compute.
struct Rewrite {
    Node node;
    size_t place = 0;              // the node of the file it stands in for (the last of them)
    std::vector<size_t> replaced;  // the others
    std::vector<int> hidden;       // tensors that are not made; who wants one gets the file's nodes instead
    std::vector<int> bypassed;     // tensors that are made, but not read: not where one is given instead of made
};

struct NetGraph {
    const Graph* source = nullptr;    // names, inputs, outputs
    std::vector<Node> nodes;          // in the order of the file
    std::vector<Rewrite> rewrites;    // no node is in two of them
    std::vector<TensorQuant> quants;  // by tensor id; empty where no tensor of the graph is quantised
    std::vector<bool> coordinates;    // by tensor id: what operators read as coordinates (ops/coordinates.h)
    std::set<int> decisive;           // constants whose values rewrites looked at: they must not change
};

struct Net {
    std::shared_ptr<const Model> model;
    std::vector<NetGraph> graphs;  // as Model::graphs(): 0 is the main net
};

// Reads all parameter tables. Throws BadParameter and what the families' readers throw; operators this
// library does not know get a Node without definition. Cancelled between two operators.
std::shared_ptr<const Net> parseNet(std::shared_ptr<const Model> model, const Cancellation& cancel = {});

// The parameters of a node of graph `graph`, read once more: another object, so that no weights that were prepared
// for the node before are found again. Of a node that a rewrite made the same object.
ParamsPtr renewedParams(const Net& net, size_t graph, const Node& node);

// By tensor id: whether it is an input of the graph or a node makes it. All are but the views of very old static
// models.
std::vector<bool> madeTensors(const NetGraph& graph);
// Whether a node reads a tensor that is not made.
bool readsView(const Node& node, const std::vector<bool>& made);

}  // namespace mnnc
