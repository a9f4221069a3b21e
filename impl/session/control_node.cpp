// The common part of If and While: calls a subgraph and takes its results.
#include "session/control_node.h"

#include "ops/control.h"
#include "session/if_node.h"
#include "session/while_node.h"

namespace mnnc {

void ControlNode::appendRecords(std::vector<OpRecord>& records) const {
    const size_t begin = records.size();
    appendBodies(records);
    if (current_) return;
    for (size_t i = begin; i < records.size(); ++i)
        records[i] = OpRecord::undecided(records[i].name, records[i].type, records[i].node);
}

int64_t ControlNode::arenaBytes() const {
    int64_t bytes = 0;
    for (const Pipeline* body : bodies())
        if (body) bytes += body->arenaBytes();
    return bytes;
}

ControlNode::ControlNode(GraphTensors& tensors, const Node& node)
    : tensors_(tensors), inputs_(node.inputs), outputs_(node.outputs) {
    for (const int id : inputs_)
        if (id < 0) fail(Status::BadIndex, "op '%s' has an input without a tensor", node.name.c_str());
    for (const int id : outputs_) tensors_.own(id);
}

std::unique_ptr<ControlNode> makeControlNode(SessionContext& context, const Node& node, GraphTensors& tensors) {
    if (node.type == OpType::If) return std::make_unique<IfNode>(context, tensors, node);
    if (node.paramsAs<WhileParams>().condGraph.empty()) return std::make_unique<CountedLoop>(context, tensors, node);
    return std::make_unique<ConditionLoop>(context, tensors, node);
}

}  // namespace mnnc
