// Compares commands and their operands.
#include "plan/made_executions.h"

#include <algorithm>

#include "backend/fusion.h"
#include "ops/attention_layout.h"
#include "ops/unary.h"
#include "tensor/tensor_list.h"

namespace mnnc {

namespace {

bool same(const View& a, const View& b) {
    return a.offset == b.offset && std::equal(a.stride, a.stride + 3, b.stride);
}

bool same(const Region& a, const Region& b) {
    return a.input == b.input && same(a.src, b.src) && same(a.dst, b.dst) && std::equal(a.size, a.size + 3, b.size);
}

bool same(const OperandView& a, const OperandView& b) {
    return a.shape == b.shape && a.offset == b.offset && a.stride == b.stride;
}

bool same(const Epilogue& a, const Epilogue& b) {
    return a.act == b.act && a.lo == b.lo && a.hi == b.hi && a.residual == b.residual;
}

bool same(const FusedStep& a, const FusedStep& b);

template <typename T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const T& x, const T& y) { return same(x, y); });
}

bool same(const ParamsPtr& a, const ParamsPtr& b);

bool same(const FusedStep& a, const FusedStep& b) {
    return a.type == b.type && same(a.params, b.params) && same(a.epilogue, b.epilogue) && same(a.regions, b.regions) &&
           a.operands == b.operands && a.shape == b.shape && a.dataType == b.dataType && a.format == b.format;
}

// Passes make new parameters in each plan; all others belong to the model.
bool same(const ParamsPtr& a, const ParamsPtr& b) {
    if (a == b) return true;
    const auto *x = paramsIf<FusedParams>(a.get()), *y = paramsIf<FusedParams>(b.get());
    // State that a pattern prepared may contain constants that are no operands.
    if (x && y)
        return x->pattern == y->pattern && !x->prepared && !y->prepared && x->results == y->results &&
               same(x->steps, y->steps);
    const auto *p = paramsIf<AttentionForm>(a.get()), *q = paramsIf<AttentionForm>(b.get());
    if (p && q) return static_cast<const AttentionLayout&>(*p) == *q;
    const auto *u = paramsIf<UnaryParams>(a.get()), *v = paramsIf<UnaryParams>(b.get());
    return u && v && u->code == v->code;
}

bool same(const TensorQuant& a, const TensorQuant& b) {
    return a.sameStep(b) && a.min == b.min && a.max == b.max && a.nonNegative == b.nonNegative;
}

// Returns whether an execution that was made for one operand may run over the other.
bool same(const Operand& a, const Operand& b) {
    return a.number == b.number && a.shape == b.shape && a.type == b.type && a.format == b.format &&
           a.usage == b.usage && a.channelBlock == b.channelBlock && a.onDevice == b.onDevice &&
           a.hasConstantValue == b.hasConstantValue && a.values == b.values && a.stored == b.stored &&
           a.content == b.content && same(a.quant, b.quant) && sameList(a.list, b.list);
}

bool same(const std::vector<Operand*>& a, const std::vector<Operand*>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Operand* x, const Operand* y) { return same(*x, *y); });
}

bool same(const Command& a, const Command& b) {
    return a.type == b.type && a.name == b.name && a.algorithm == b.algorithm && a.fp32 == b.fp32 &&
           same(a.epilogue, b.epilogue) && same(a.params, b.params) && same(a.regions, b.regions) &&
           same(a.views, b.views) && same(a.inputs, b.inputs) && same(a.outputs, b.outputs);
}

}  // namespace

void MadeExecutions::addNew(const Command& command, const PlanTensors& tensors, std::shared_ptr<Execution> execution) {
    ++created_;
    if (command.outputs.empty()) return;
    Made made{command, {}, std::move(execution)};
    for (const std::vector<Operand*>* side : {&command.inputs, &command.outputs})
        for (const Operand* tensor : *side) made.operands.push_back(tensors.keep(tensor->number));
    made_.emplace(command.outputs[0]->number, std::move(made));
}

void MadeExecutions::add(const Made& made) {
    made_.emplace(made.command.outputs[0]->number, made);
}

const MadeExecutions::Made* MadeExecutions::find(const Command& command) const {
    if (command.outputs.empty()) return nullptr;
    const auto [first, last] = made_.equal_range(command.outputs[0]->number);
    for (auto entry = first; entry != last; ++entry)
        if (same(entry->second.command, command)) return &entry->second;
    return nullptr;
}

}  // namespace mnnc
