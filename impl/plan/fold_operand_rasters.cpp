// The pass fold-operand-rasters.
#include "ir/region_series.h"
#include "plan/passes.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;

// Returns whether a command copies floats of one tensor.
bool copiesFloats(const Command& command) {
    return command.type == OpType::Raster && command.inputs.size() == 1 &&
           command.inputs[0]->type == DataType::Float32 && command.outputs[0]->type == DataType::Float32;
}

// Makes the product read its operand k through the Rasters before it, as far as the backend can. Where the backend
// refuses the view through one Raster, it may still accept the view through two.
void foldInto(CommandGraph& graph, const Backend& backend, Id product, size_t k) {
    Command wanted = graph.command(product);
    if (wanted.views.empty())
        for (const Operand* input : wanted.inputs) wanted.views.push_back(OperandView::of(input->shape));
    std::vector<Id> passed;
    for (;;) {
        Operand* operand = wanted.inputs[k];
        const Id id = graph.exclusiveProducer(operand, passed.empty() ? product : passed.back());
        if (id == CommandGraph::kNone || !copiesFloats(graph.command(id))) return;
        const Command& raster = graph.command(id);
        const std::optional<RegionSeries> series = RegionSeries::of(raster.regions);
        const std::optional<OperandView> view =
            series ? series->through(wanted.views[k], operand->elements()) : std::nullopt;
        if (!view) return;
        wanted.views[k] = *view;
        wanted.inputs[k] = raster.inputs[0];
        passed.push_back(id);
        if (!backend.supportsViews(wanted)) continue;
        for (const Id one : passed) graph.erase(one, product);
        graph.replace(product, wanted);
        passed.clear();
    }
}

}  // namespace

void foldOperandRasters(CommandGraph& graph, const PlanContext& context) {
    for (const Id id : graph.ids()) {
        const Command& command = graph.command(id);
        if ((command.type != OpType::MatMul && command.type != OpType::BatchMatMul) || command.outputs.size() != 1 ||
            command.outputs[0]->type != DataType::Float32 || !context.backend.supportsViews(command))
            continue;
        for (size_t k = 0; k < 2 && k < graph.command(id).inputs.size(); ++k) foldInto(graph, context.backend, id, k);
    }
}

}  // namespace mnnc
