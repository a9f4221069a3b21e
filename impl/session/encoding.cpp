// Encodes an operator, and compares its inputs with those that it was encoded for.
#include "session/encoding.h"

#include "base/error.h"
#include "tensor/tensor_list.h"

namespace mnnc {

namespace {

// Lists of regions of fewer bytes are not counted.
constexpr int64_t kShortLists = 1 << 16;
// The encoding, the graph of commands and an execution have a list each.
constexpr int64_t kListsOfRegions = 3;

int64_t bytesOfRegions(const std::vector<EncodedCommand>& commands) {
    size_t regions = 0;
    for (const EncodedCommand& encoded : commands) regions += encoded.command.regions.size();
    return static_cast<int64_t>(regions * sizeof(Region)) * kListsOfRegions;
}

}  // namespace

bool Encoding::Input::operator==(const Input& other) const noexcept {
    return shape == other.shape && type == other.type && format == other.format && quant.sameStep(other.quant) &&
           quant.min == other.quant.min && quant.max == other.quant.max && constant == other.constant &&
           values == other.values && producer == other.producer && sameList(list, other.list);
}

Encoding::Input Encoding::describe(const Tensor& tensor, const Producers& producerOf) {
    const bool constant = tensor.hasConstantValue;
    return {tensor.shape,
            tensor.type,
            tensor.format,
            tensor.quant,
            tensor.list,
            constant,
            constant ? tensor.values : nullptr,
            constant ? producerOf(tensor.number) : nullptr};
}

Encoding::Encoding(SessionContext& context, PlanningFrame& planning, const ScheduledOp& op,
                   const std::vector<Tensor*>& inputs, const std::vector<Tensor>& outputs, const Producers& producerOf)
    : params_(op.node->params) {
    for (const Tensor* input : inputs) inputs_.push_back(describe(*input, producerOf));
    std::vector<Tensor*> made;
    made.reserve(outputs.size());
    for (const Tensor& output : outputs) made.push_back(&outputs_.emplace_back(output));
    StageEncoder(context, planning, OperandNumbers::Kind::Operator, op.stage, op.number, temporaries_, folded_)
        .encode(op, inputs, made, commands_);
    if (const int64_t bytes = bytesOfRegions(commands_); bytes >= kShortLists)
        regions_.emplace(context, bytes, format("op '%s': the list of its regions", op.node->name.c_str()).c_str());
    // The inputs belong to a program that may be destroyed before this encoding.
    for (const EncodedCommand& encoded : commands_) {
        std::vector<int>& numbers = operands_.emplace_back();
        for (const std::vector<Tensor*>* side : {&encoded.command.inputs, &encoded.command.outputs})
            for (const Tensor* tensor : *side) numbers.push_back(tensor->number);
    }
}

bool Encoding::fits(const ScheduledOp& op, const std::vector<Tensor*>& inputs, const Producers& producerOf) const {
    if (op.node->params != params_ || inputs.size() != inputs_.size()) return false;
    for (size_t i = 0; i < inputs.size(); ++i)
        if (!(describe(*inputs[i], producerOf) == inputs_[i])) return false;
    return true;
}

void Encoding::addTensors(PlanTensors& tensors) const {
    for (const Tensor& output : outputs_) tensors.add(Operand(output));
    for (const Tensor& temporary : temporaries_) tensors.add(Operand(temporary));
}

void Encoding::appendTo(CommandGraph& graph, const PlanTensors& tensors) const {
    for (size_t i = 0; i < commands_.size(); ++i) {
        const EncodedCommand& encoded = commands_[i];
        auto number = operands_[i].begin();
        graph.append(mapOperands<Operand>(encoded.command, [&](const Tensor*) { return tensors.find(*number++); }),
                     encoded.flops, encoded.refusal);
    }
}

}  // namespace mnnc
