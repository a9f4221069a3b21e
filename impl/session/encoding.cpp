// Encodes an operator, and compares its inputs with those that it was encoded for.
#include "session/encoding.h"

#include "tensor/tensor_list.h"

namespace mnnc {

bool Encoding::Input::operator==(const Input& other) const noexcept {
    return shape == other.shape && type == other.type && format == other.format &&
           quant.sameStep(other.quant) && quant.min == other.quant.min && quant.max == other.quant.max &&
           constant == other.constant && values == other.values && maker == other.maker &&
           sameList(list, other.list);
}

Encoding::Input Encoding::describe(const Tensor& tensor, const Makers& makerOf) {
    const bool constant = tensor.hasConstantValue;
    return {tensor.shape,
            tensor.type,
            tensor.format,
            tensor.quant,
            tensor.list,
            constant,
            constant ? tensor.values : nullptr,
            constant ? makerOf(tensor.number) : nullptr};
}

Encoding::Encoding(SessionContext& context, PlanningFrame& planning, const ScheduledOp& op,
                   const std::vector<Tensor*>& inputs, const std::vector<Tensor>& outputs,
                   const Makers& makerOf)
    : params_(op.node->params) {
    for (const Tensor* input : inputs) inputs_.push_back(describe(*input, makerOf));
    std::vector<Tensor*> made;
    for (const Tensor& output : outputs) made.push_back(&outputs_.emplace_back(output));
    StageEncoder(context, planning, OperandNumbers::Kind::Operator, op.stage, op.number, temporaries_,
                 folded_)
        .encode(op, inputs, made, commands_);
    // The inputs belong to a plan, which may be gone before this: commands() finds those of another plan by their numbers.
    for (EncodedCommand& encoded : commands_)
        for (std::vector<Tensor*>* side : {&encoded.command.inputs, &encoded.command.outputs})
            for (Tensor* tensor : *side) encoded.operands.push_back(tensor->number);
}

bool Encoding::fits(const ScheduledOp& op, const std::vector<Tensor*>& inputs, const Makers& makerOf) const {
    if (op.node->params != params_ || inputs.size() != inputs_.size()) return false;
    for (size_t i = 0; i < inputs.size(); ++i)
        if (!(describe(*inputs[i], makerOf) == inputs_[i])) return false;
    return true;
}

void Encoding::addTensors(PlanTensors& tensors) const {
    for (const Tensor& output : outputs_) tensors.add(output);
    for (const Tensor& temporary : temporaries_) tensors.add(temporary);
}

std::vector<EncodedCommand> Encoding::commands(const PlanTensors& tensors) const {
    std::vector<EncodedCommand> result = commands_;
    for (EncodedCommand& encoded : result) {
        auto operand = encoded.operands.begin();
        for (std::vector<Tensor*>* side : {&encoded.command.inputs, &encoded.command.outputs})
            for (Tensor*& tensor : *side) tensor = tensors.find(*operand++);
    }
    return result;
}

}  // namespace mnnc
