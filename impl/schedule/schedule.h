// Chooses the operators that the wanted outputs need, and cuts them into stages.
//
// Shapes of most nets follow from the shapes of their inputs: one stage, planned once per resize. Where a
// shape depends on contents that only a run makes (or on a branch or loop), what is behind that boundary is a
// later stage, planned during the run and only when what it depends on differs from last time.
#pragma once
#include <vector>

#include "ops/net.h"

namespace mnnc {

struct ScheduledOp {
    const Node* node = nullptr;
    int stage = 0;
    bool folded = false;   // computed while planning: constant, or a function of shapes alone
    uint32_t content = 0;  // inputs whose values the shape rule reads
    uint32_t moving = 0;   // those of them that the op's command reads anew in each run
};

struct GraphSchedule {
    int graph = 0;
    std::vector<int> outputs;      // tensor ids, in the order of the session's outputs
    std::vector<ScheduledOp> ops;  // needed ops in file order, without Input and Const
    int stages = 1;
    // Per tensor id:
    std::vector<int> lastStage;     // the last stage that reads it; `stages` for outputs
    std::vector<bool> folded;       // content known while planning
    std::vector<bool> fromControl;  // made by If or While
};

// Throws NotSupported (naming operator and node) when an op that is needed cannot run here.
GraphSchedule scheduleGraph(const Net& net, int graph, const std::vector<int>& outputs);

}  // namespace mnnc
