// Report about the plan of one graph: which commands it executes, over which tensors of the graph.
#pragma once
#include <map>
#include <vector>

#include "plan/op_record.h"

namespace mnnc {

struct PlannedCall {
    OpRecord record;
    // Tensor ids of the graph. A tensor that no operator of the graph produces has a unique number below 0. Another
    // form of a tensor (its storage, its type) counts as that tensor.
    std::vector<int> inputs, outputs;
};

struct PlannedTensor {
    Shape shape;
    DataType type = DataType::Float32;
    bool constant = false;  // its values are known while planning
};

// The main graph, or the body of one control flow operator: a graph that several operators call appears once for each.
struct PlannedGraph {
    int graph = 0;
    int lastOther = 0;                     // the lowest number of a tensor that does not belong to the graph
    std::map<int, PlannedTensor> tensors;  // tensors of planned stages, by id
    std::vector<PlannedCall> calls;        // calls of planned stages, in their order
};

}  // namespace mnnc
