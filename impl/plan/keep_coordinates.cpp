// The pass keep-coordinates: where the backend stores floats in 16 bits, tensors that hold coordinates keep 32. It
// follows them from the operators that read coordinates back through movement and arithmetic, and forward from those
// that produce coordinates.
#include <algorithm>

#include "plan/passes.h"
#include "plan/wide_operands.h"

namespace mnnc {

namespace {

void markOutputs(const Command& command) {
    for (Operand* output : command.outputs) output->wide = output->type == DataType::Float32;
}

// Returns whether all floats that the command reads are coordinates or constants, and at least one is no constant.
bool readsOnlyCoordinates(const Command& command) {
    const auto isOther = [](const Operand* input) {
        return input->type == DataType::Float32 && !input->wide && !input->hasConstantValue;
    };
    return std::none_of(command.inputs.begin(), command.inputs.end(), isOther) &&
           std::any_of(command.inputs.begin(), command.inputs.end(),
                       [](const Operand* input) { return input->type == DataType::Float32 && input->wide; });
}

}  // namespace

void keepCoordinates(CommandGraph& graph, const PlanContext& context) {
    if (!context.backend.narrowsFloats()) return;
    const std::vector<CommandGraph::Id> ids = graph.ids();
    for (const CommandGraph::Id id : ids)
        for (Operand* output : graph.command(id).outputs)
            output->wide = context.isCoordinate && graph.isLiveOut(output) && context.isCoordinate(output) &&
                           coordinateRule(graph.command(id)).carries;
    for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
        const Command& command = graph.command(*id);
        if (graph.isControl(*id)) continue;
        const WideOperands wide(command);
        if (wide.all()) markOutputs(command);
        for (size_t i = 0; i < command.inputs.size(); ++i) {
            if (!wide.input(i) || command.fp32) continue;
            const CommandGraph::Id producer = graph.producer(command.inputs[i]);
            if (producer != CommandGraph::kNone && coordinateRule(graph.command(producer)).carries)
                command.inputs[i]->wide = true;
        }
    }
    for (const CommandGraph::Id id : ids) {
        if (graph.isControl(id)) continue;
        const Command& command = graph.command(id);
        const CoordinateRule rule = coordinateRule(command);
        if (rule.makes || (rule.carries && readsOnlyCoordinates(command))) markOutputs(command);
    }
}

}  // namespace mnnc
