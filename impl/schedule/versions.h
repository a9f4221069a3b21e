// Gives each write of a tensor a separate tensor, so that planning sees one producer of each tensor.
//
// A file may have several operators write one tensor: loops of a static recurrent net write parts of it, and the update
// operators of a training net write constants. The order of the operators decides which value a reader gets.
#pragma once
#include <memory>
#include <vector>

#include "net/net.h"

namespace mnnc {

// A node to run, and the node of the net that it equals or was copied from.
struct VersionedNode {
    const Node* node = nullptr;
    const Node* origin = nullptr;
    bool ownParams = false;  // the copy has other parameters than the node of the net
};

// A constant of the graph that operators write: its tensor before a run, and its tensor after the run.
struct Variable {
    int constant = 0;
    int value = 0;
};

struct Versions {
    std::vector<VersionedNode> nodes;  // in execution order
    // Tensors that the graph lacks; their ids follow the graph's. Each entry is the tensor of the graph of which the
    // new tensor is a version. The last version keeps the id of the original tensor; of the versions of a constant, the
    // first one does.
    std::vector<int> furtherLike;
    std::vector<std::unique_ptr<Node>> own;
    std::vector<Variable> variables;
};

// `given`: by tensor, whether it exists before the graph runs; all of its readers get that value. Throws BadFormat
// where two constants or inputs are one tensor.
Versions versionsOf(const NetGraph& graph, const std::vector<const Node*>& nodes, const std::vector<bool>& given);

}  // namespace mnnc
