// Determines scales of tensors, and passes them on through operators that keep values.
#include "plan/quant_states.h"

namespace mnnc {

namespace {

constexpr int kRounds = 3;  // rounds of propagation, as in the reference

// Returns whether values pass the command unchanged or, unless the file states which tensors are floats, nearly so.
bool carriesScale(const Command& command, bool statesFloats) {
    if (command.outputs.size() != 1 || command.inputs.empty()) return false;
    for (const Operand* input : command.inputs)
        if (input != command.inputs[0]) return false;
    if (statesFloats) return command.type == OpType::Raster;
    switch (command.type) {
        case OpType::Raster:
        case OpType::ReLU:
        case OpType::ReLU6:
        case OpType::Pooling:
        case OpType::Pooling3D:
            return true;
        case OpType::Interp:
            return command.inputs.size() == 1;
        default:
            return false;
    }
}

}  // namespace

void QuantStates::note(const CommandGraph& graph, const Ids& ids) {
    for (const CommandGraph::Id id : ids) {
        for (const Operand* input : graph.command(id).inputs) note(graph, input);
        for (const Operand* output : graph.command(id).outputs) note(graph, output);
    }
}

void QuantStates::note(const CommandGraph& graph, const Operand* tensor) {
    const auto [found, fresh] = states_.try_emplace(tensor);
    if (!fresh) return;
    found->second.atMostOneProducer = graph.producerCount(tensor) <= 1;
    if (tensor->type != DataType::Float32) return;
    found->second.quant = tensor->quant;
    any_ |= tensor->quant.known();
    statesFloats_ |= tensor->quant.isFloat;
}

bool QuantStates::pass(const Operand* from, const Operand* to) {
    const QuantState& source = states_[from];
    QuantState& target = states_[to];
    if (!source.quant.known() || target.quant.known() || target.quant.isFloat || to->type != DataType::Float32)
        return false;
    target.quant = source.quant;
    return true;
}

void QuantStates::propagate(const CommandGraph& graph, const Ids& ids) {
    for (int round = 0; round < kRounds; ++round) {
        bool changed = false;
        for (const CommandGraph::Id id : ids) {
            const Command& command = graph.command(id);
            if (carriesScale(command, statesFloats_)) changed |= pass(command.inputs[0], command.outputs[0]);
        }
        for (size_t i = ids.size(); i-- > 0;) {
            const Command& command = graph.command(ids[i]);
            if (carriesScale(command, statesFloats_)) changed |= pass(command.outputs[0], command.inputs[0]);
        }
        if (!changed) break;
    }
    for (auto& [tensor, state] : states_) state.origin = state.quant;
}

void QuantStates::followOrigins(const Command& raster) {
    if (raster.inputs.empty()) return;
    TensorQuant origin = states_[raster.inputs[0]].origin;
    for (const Operand* input : raster.inputs)
        if (!states_[input].origin.sameStep(origin)) origin = {};
    states_[raster.outputs[0]].origin = origin;
}

}  // namespace mnnc
