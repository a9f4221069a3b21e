// Chooses the operators that lead from the inputs to the wanted outputs, and cuts them into stages.
//
// Shapes of most nets follow from the shapes of their inputs: one stage, planned once per resize. Where a
// shape depends on contents that only a run makes (or on a branch or loop), what is behind that boundary is a
// later stage, planned during the run and only when what it depends on differs from last time.
#pragma once
#include <memory>
#include <vector>

#include "net/net.h"
#include "schedule/versions.h"

namespace mnnc {

struct ScheduledOp {
    const Node* node = nullptr;
    const Node* origin = nullptr;      // the net's node: `node`, or what that is a copy of
    bool ownParams = false;            // `node` has other parameters than `origin`
    const wire::Op* source = nullptr;  // as the file has it; null: a rewrite made the node
    int number = 0;                    // its place in the schedule
    int stage = 0;
    bool folded = false;   // computed while planning: constant, or a function of shapes alone
    uint32_t content = 0;  // inputs whose values the shape rule reads
    uint32_t moving = 0;   // those of them that the op's command reads anew in each run
};

struct GraphSchedule {
    int graph = 0;
    std::vector<int> outputs;      // tensor ids, in the order of the session's outputs
    std::vector<ScheduledOp> ops;  // needed ops in the order in which they run, without Input and Const
    // Constants that these operators write: they keep their values between runs, and no plan depends on them.
    std::vector<Variable> variables;
    // Tensors that the graph lacks, whose ids follow those of the graph's: versions of tensors with several writers,
    // what operators make in the place of outputs that the graph's inputs stand in for, and what goes from an
    // operator's search to its results (ops/search_parts.h).
    // For each of them the tensor of the graph that it is like; -1: none, it is of a search.
    std::vector<int> furtherLike;
    std::vector<std::unique_ptr<Node>> own;  // the operators that make or read them
    int stages = 1;
    // Per tensor id:
    std::vector<int> lastStage;     // the last stage that reads it; `stages` for outputs
    std::vector<bool> folded;       // content known while planning
    std::vector<bool> fromControl;  // made by If or While
};

// inputs: tensors that are there before the graph runs, which need no operator that makes them.
struct ScheduleOptions {
    bool rewritten = true;  // nodes of the net's rewrites are taken in place of those of the file
    // All operators that write constants run; else those alone that the outputs need, or whose constant is an output.
    bool updates = false;
};

// Throws NotSupported (naming operator and node) when an op that is needed cannot run here.
GraphSchedule scheduleGraph(const Net& net, int graph, const std::vector<int>& inputs, const std::vector<int>& outputs,
                            const ScheduleOptions& options = {});

}  // namespace mnnc
