// What If and While share: calling a subgraph and taking its results.
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
        records[i] = OpRecord::undecided(records[i].name, records[i].type);
}

int64_t ControlNode::arenaBytes() const {
    int64_t bytes = 0;
    for (const Pipeline* body : bodies())
        if (body) bytes += body->arenaBytes();
    return bytes;
}

std::unique_ptr<ControlNode> makeControlNode(SessionContext& context, const Node& node,
                                             std::vector<Tensor>& tensors, Frame& frame) {
    std::vector<Tensor*> inputs, outputs;
    for (const int id : node.inputs) {
        if (id < 0) fail(Status::BadIndex, "op '%s' has an input without tensor", node.name.c_str());
        inputs.push_back(&tensors[static_cast<size_t>(id)]);
    }
    for (const int id : node.outputs) outputs.push_back(&tensors[static_cast<size_t>(id)]);
    if (node.type == OpType::If)
        return std::make_unique<IfNode>(context, node.name, node.paramsAs<IfParams>(), frame, inputs,
                                        outputs);
    const auto& params = node.paramsAs<WhileParams>();
    if (params.condGraph.empty())
        return std::make_unique<CountedLoop>(context, node.name, params, frame, inputs, outputs);
    return std::make_unique<ConditionLoop>(context, node.name, params, frame, inputs, outputs);
}

}  // namespace mnnc
