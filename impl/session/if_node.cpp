// Runs the branch that the condition chooses.
#include "session/if_node.h"

namespace mnnc {

IfNode::IfNode(SessionContext& context, GraphTensors& tensors, const Node& node)
    : ControlNode(tensors, node),
      name_(node.name),
      then_(context, node.paramsAs<IfParams>().thenGraph, name_.c_str()),
      else_(context, node.paramsAs<IfParams>().elseGraph, name_.c_str()) {
    const auto& params = node.paramsAs<IfParams>();
    connect(then_, params, 0);
    connect(else_, params, 1);
    for (size_t i = 0; i < outputCount(); ++i) memory_.emplace_back(context);
}

void IfNode::connect(Branch& branch, const IfParams& params, size_t side) const {
    branch.source.assign(branch.body.inputs(), -1);
    for (size_t i = 0; i < params.inputAliases.size() && i < inputCount(); ++i)
        for (const std::string& alias : params.inputAliases[i])
            if (const int formal = branch.body.findInput(alias); formal >= 0)
                branch.source[static_cast<size_t>(formal)] = static_cast<int>(i);
    for (size_t i = 0; i < branch.source.size(); ++i)
        if (branch.source[i] < 0)
            fail(Status::BadFormat, "op '%s' (If) feeds nothing to input '%s' of a branch", name_.c_str(),
                 branch.body.pipeline().input(i).name.c_str());
    for (size_t i = 0; i < outputCount(); ++i) {
        int formal = static_cast<int>(i);
        if (i < params.outputAliases.size() && params.outputAliases[i].size() > side)
            formal = branch.body.findOutput(params.outputAliases[i][side]);
        if (formal < 0 || formal >= static_cast<int>(branch.body.outputs()))
            fail(Status::BadFormat, "op '%s' (If): output %zu has no counterpart in a branch", name_.c_str(), i);
        branch.results.push_back(formal);
    }
}

void IfNode::execute() {
    Branch& branch = conditionHolds(input(0), name_.c_str()) ? then_ : else_;
    for (size_t i = 0; i < branch.source.size(); ++i)
        branch.body.describe(i, input(static_cast<size_t>(branch.source[i])).tensor);
    branch.body.pipeline().prepare();
    for (size_t i = 0; i < branch.source.size(); ++i) branch.body.fill(i, input(static_cast<size_t>(branch.source[i])));
    branch.body.run();
    for (size_t i = 0; i < outputCount(); ++i)
        give(i, memory_[i], branch.body.output(static_cast<size_t>(branch.results[i])));
}

void IfNode::appendBodies(std::vector<OpRecord>& records) const {
    const Operand& condition = input(0).tensor;
    const bool known = conditionKnown(condition);
    for (const Branch* branch : {&then_, &else_}) {
        const size_t begin = records.size();
        branch->body.pipeline().appendRecords(records);
        const bool taken = known && conditionHolds(input(0), name_.c_str()) == (branch == &then_);
        repeatWork(records, begin, !known ? -1 : taken ? 1 : 0);
    }
}

void IfNode::trim() {
    then_.body.pipeline().trim();
    else_.body.pipeline().trim();
}

ControlNode::Bodies IfNode::bodies() const {
    return {&then_.body.pipeline(), &else_.body.pipeline()};
}

}  // namespace mnnc
