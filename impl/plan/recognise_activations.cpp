// The pass recognise-activations.
#include "ops/unary.h"
#include "plan/activation_forms.h"
#include "plan/passes.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;

// Turns the last of `steps` into y = f(x), which takes over the work of the others.
void becomeUnary(CommandGraph& graph, const std::vector<Id>& steps, Operand* x, int code) {
    auto params = std::make_shared<UnaryParams>();
    params->code = code;
    const Id last = steps.back();
    for (const Id id : steps)
        if (id != last) graph.erase(id, last);
    Command unary = graph.command(last);
    unary.type = OpType::UnaryOp;
    unary.params = std::move(params);
    unary.inputs = {x};
    graph.replace(last, std::move(unary));
}

bool isUnary(const Command& command, int code) {
    return command.type == OpType::UnaryOp && command.paramsAs<UnaryParams>().code == code &&
           command.outputs[0]->type == DataType::Float32;
}

}  // namespace

void recogniseActivations(CommandGraph& graph, const PlanContext&) {
    for (const Id id : graph.ids()) {
        if (!graph.contains(id)) continue;
        const HardActivation form = hardActivation(graph, id);
        if (form.timesX) becomeUnary(graph, form.steps, form.x, kUnaryHardSwish);
    }
    for (const Id id : graph.ids()) {
        if (!graph.contains(id) || graph.isControl(id) || !isUnary(graph.command(id), kUnarySigmoid)) continue;
        const Id multiply = graph.onlyConsumer(id);
        Operand* x = graph.command(id).inputs[0];
        if (multiply != CommandGraph::kNone && isProduct(graph.command(multiply), x, graph.command(id).outputs[0]))
            becomeUnary(graph, {id, multiply}, x, kUnarySilu);
    }
    for (const Id id : graph.ids()) {
        if (!graph.contains(id) || graph.isControl(id) || !isUnary(graph.command(id), kUnaryTanh)) continue;
        const UnaryForm form = geluTanhForm(graph, id);
        if (!form.steps.empty()) becomeUnary(graph, form.steps, form.x, kUnaryGelu);
    }
}

}  // namespace mnnc
