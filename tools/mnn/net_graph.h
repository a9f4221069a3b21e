// The graphs of a model with the plan of a session, as 'mnn graph' draws them.
#pragma once
#include <string>
#include <vector>

#include "common.h"
#include "json.h"
#include "op_times.h"

namespace tool {

struct GraphTensor {
    std::string name, type;  // type: "" where it is not known
    std::vector<int64_t> shape;
    bool constant = false;  // computed while planning
    int producer = -1;      // the operator that produces it
    bool planned() const { return !type.empty(); }
};

struct GraphOp {
    std::string type, name;
    std::vector<int64_t> inputs, outputs;  // tensors; an input below 0 is absent
    std::vector<int64_t> bodies;           // the graphs that the operator runs
    bool supported = true;
    int group = -1;
    // Constants are not drawn: operators name the constants that they read.
    bool isDrawn() const { return !isConstant(); }
    bool isConstant() const { return type == "Const" || type == "TrainableParam"; }
};

// Operators of the model that a session computes together, or a single one.
struct GraphGroup {
    std::vector<size_t> ops;  // ascending
    std::vector<std::string> commands;
    std::string backend, algorithm, reason;
    bool hostShape = false;
    double ms = -1;  // below 0: not measured
};

struct NetGraph {
    std::string name;
    int caller = -1, callerGraph = -1;  // an operator that runs this graph
    std::vector<int64_t> inputs, outputs;
    std::vector<GraphTensor> tensors;
    std::vector<GraphOp> ops;
    std::vector<GraphGroup> groups;
};

struct Net {
    std::vector<NetGraph> graphs;                                 // the main one first
    bool planned = false;                                         // the session has a plan
    double runMs = -1, copiesMs = 0, totalMs = 0, longestMs = 0;  // runMs below 0: not measured
};

Net readNet(const Interpreter& model);
// Adds the commands that the session executes, and their backends.
void addPlan(Net& net, const Session& session);
// Adds the times of a run of the session that was given to addPlan().
void addTimes(Net& net, const RunTimes& times, const Session& session);

}  // namespace tool
