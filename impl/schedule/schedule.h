// Chooses the operators that lead from the inputs to the wanted outputs, and cuts them into stages.
//
// Shapes of most nets follow from the shapes of their inputs: one stage, planned once per resize. Where a shape depends
// on contents that only a run computes (or on a branch or loop), a later stage begins. It is planned during the run,
// and only when the values that it depends on differ from last time.
#pragma once
#include <memory>
#include <vector>

#include "net/net.h"
#include "schedule/versions.h"

namespace mnnc {

struct ScheduledOp {
    const Node* node = nullptr;
    const Node* origin = nullptr;      // the net's node: `node`, or the original of this copy
    bool ownParams = false;            // `node` has other parameters than `origin`
    const wire::Op* source = nullptr;  // the operator in the file; null: a rewrite made the node
    int number = 0;                    // its position in the schedule
    int stage = 0;
    bool folded = false;   // computed while planning: constant, or a function of shapes alone
    uint32_t content = 0;  // bits of the inputs whose values the shape rule reads
    uint32_t moving = 0;   // bits of those that the operator's command reads anew in each run
};

struct GraphSchedule {
    int graph = 0;
    std::vector<int> outputs;      // tensor ids, in the order of the session's outputs
    std::vector<ScheduledOp> ops;  // needed operators in execution order, without Input and Const
    // Constants that these operators write: they keep their values between runs, and no plan depends on them.
    std::vector<Variable> variables;
    // Tensors that the graph lacks; their ids follow the graph's. They are versions of tensors with several writers,
    // results that operators produce although the graph's inputs replace these outputs, and tensors between an
    // operator's search and its results (ops/search_parts.h). An entry is the tensor of the graph whose name and
    // description the tensor has; -1: there is none, the tensor belongs to a search.
    std::vector<int> furtherLike;
    std::vector<std::unique_ptr<Node>> own;  // copies of nodes that produce or read such tensors
    int stages = 1;
    int keepers = 0;  // operators that keep a state from run to run
    // By tensor id:
    std::vector<int> lastStage;     // the last stage that reads it; `stages` for outputs
    std::vector<bool> folded;       // content known while planning
    std::vector<bool> fromControl;  // produced by If or While
};

struct ScheduleOptions {
    bool rewritten = true;  // nodes of the net's rewrites replace those of the file
    // All operators that write constants run; else only those that the outputs need, or whose constant is an output.
    bool updates = false;
};

// inputs: tensors that exist before the graph runs; their producers are not needed. Throws NotSupported (naming
// operator and node) when a needed operator cannot run here.
GraphSchedule scheduleGraph(const Net& net, int graph, const std::vector<int>& inputs, const std::vector<int>& outputs,
                            const ScheduleOptions& options = {});

}  // namespace mnnc
