#include "ops/pointwise_depthwise.h"
#include "plan/passes.h"
#include "plan/single_operand.h"

namespace mnnc {

void fusePointwiseDepthwise(CommandGraph& graph, const PlanContext& context) {
    for (const CommandGraph::Id id : graph.ids()) {
        if (!graph.contains(id)) continue;
        const Command& depthwise = graph.command(id);
        if (depthwise.type != OpType::ConvolutionDepthwise || !hasOneFloatOperand(depthwise)) continue;
        const CommandGraph::Id first = graph.exclusiveProducer(depthwise.inputs[0], id);
        if (first == CommandGraph::kNone) continue;
        const Command& pointwise = graph.command(first);
        if (pointwise.type != OpType::Convolution || !hasOneFloatOperand(pointwise)) continue;
        if (graph.producerCount(pointwise.inputs[0]) > 1) continue;  // it will be read later than before
        Command fused;
        fused.type = OpType::PointwiseDepthwise;
        fused.name = depthwise.name;
        fused.inputs = pointwise.inputs;
        fused.outputs = depthwise.outputs;
        auto params = std::make_shared<PointwiseDepthwiseParams>();
        params->pointwise = pointwise;
        params->depthwise = depthwise;
        fused.params = std::move(params);
        if (!context.backend.canFuse(fused)) continue;
        graph.erase(first, id);
        graph.replace(id, std::move(fused));
    }
}

}  // namespace mnnc
