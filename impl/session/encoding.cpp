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
            constant ? makerOf(&tensor) : nullptr};
}

Encoding::Encoding(SessionContext& context, PlanningFrame& planning, const ScheduledOp& op,
                   const std::vector<Tensor*>& inputs, const std::vector<Tensor*>& outputs,
                   const Makers& makerOf)
    : params_(op.node->params) {
    for (const Tensor* input : inputs) inputs_.push_back(describe(*input, makerOf));
    StageEncoder(context, planning, OperandNumbers::Kind::Operator, op.stage, op.number, temporaries_,
                 folded_)
        .encode(op, inputs, outputs, commands_);
    for (const Tensor* output : outputs) outputs_.push_back(*output);
    states_.assign(temporaries_.begin(), temporaries_.end());
}

bool Encoding::fits(const ScheduledOp& op, const std::vector<Tensor*>& inputs, const Makers& makerOf) const {
    if (op.node->params != params_ || inputs.size() != inputs_.size()) return false;
    for (size_t i = 0; i < inputs.size(); ++i)
        if (!(describe(*inputs[i], makerOf) == inputs_[i])) return false;
    return true;
}

void Encoding::apply(const std::vector<Tensor*>& outputs) const {
    for (size_t i = 0; i < outputs.size(); ++i) restore(*outputs[i], outputs_[i]);
    size_t i = 0;
    for (Tensor& temporary : temporaries_) restore(temporary, states_[i++]);
}

}  // namespace mnnc
