// What a session reports about the plan of one graph: which commands it executes, over which tensors of the graph.
#pragma once
#include <map>
#include <vector>

#include "plan/op_record.h"

namespace mnnc {

struct PlannedCall {
    OpRecord record;
    // Tensor ids of the graph; below 0, and another number for each, where it is a tensor that no operator of the graph
    // makes. What is another form of a tensor (its storage, its type) counts as that tensor.
    std::vector<int> inputs, outputs;
};

struct PlannedTensor {
    Shape shape;
    DataType type = DataType::Float32;
    bool constant = false;  // its values are known while planning
};

// The main graph, or the body of one control flow operator: a graph that several of them call is there once for each.
struct PlannedGraph {
    int graph = 0;
    int lastOther = 0;                     // the lowest number of a tensor that is none of the graph's
    std::map<int, PlannedTensor> tensors;  // of planned stages, by id
    std::vector<PlannedCall> calls;        // of planned stages, in their order
};

}  // namespace mnnc
