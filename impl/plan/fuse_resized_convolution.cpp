#include <algorithm>
#include <optional>

#include "ops/resized_convolution.h"
#include "plan/passes.h"
#include "plan/single_operand.h"
#include "tensor/region_check.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;
using Part = ResizedConvolutionParams::Part;

// Tensors that lie side by side along the channels of another, and the commands that put them there.
struct Sources {
    std::vector<Tensor*> tensors;
    std::vector<Part> parts;
    std::vector<Id> producers;
};

bool isResize(const Command& command) {
    return command.type == OpType::Interp && hasOneFloatOperand(command) && !command.epilogue.any();
}

// Of the input of a convolution; none when nothing in it is resized for that convolution alone.
std::optional<Sources> sourcesOf(const CommandGraph& graph, const Tensor& input, Id convolution) {
    const Id producer = graph.exclusiveProducer(&input, convolution);
    if (producer == CommandGraph::kNone || input.shape.rank() != 4) return std::nullopt;
    const Command& command = graph.command(producer);
    if (isResize(command)) return Sources{{command.inputs[0]}, {{input.shape[1], command}}, {producer}};
    if (command.type != OpType::Raster || input.shape[0] != 1) return std::nullopt;
    std::vector<Region> regions = command.regions;
    std::sort(regions.begin(), regions.end(),
              [](const Region& a, const Region& b) { return a.dst.offset < b.dst.offset; });
    Sources sources;
    sources.producers.push_back(producer);
    int64_t end = 0;
    for (const Region& region : regions) {
        Tensor* from = command.inputs[static_cast<size_t>(region.input)];
        const Shape& shape = from->shape;
        if (region.dst.offset != end || !isLinear(region, from->elements()) || shape.rank() != 4 ||
            shape[0] != 1 || shape[2] != input.shape[2] || shape[3] != input.shape[3] ||
            from->type != input.type)
            return std::nullopt;
        end += from->elements();
        Part part{shape[1], {}};
        const Id resize = graph.exclusiveProducer(from, producer);
        if (resize != CommandGraph::kNone && isResize(graph.command(resize))) {
            part.resize = graph.command(resize);
            sources.producers.push_back(resize);
            from = part.resize->inputs[0];
        }
        sources.tensors.push_back(from);
        sources.parts.push_back(std::move(part));
    }
    if (end != input.elements() || sources.producers.size() == 1) return std::nullopt;
    return sources;
}

void fuse(CommandGraph& graph, const Backend& backend, Id id) {
    const Command& convolution = graph.command(id);
    const std::optional<Sources> sources = sourcesOf(graph, *convolution.inputs[0], id);
    if (!sources) return;
    // All of them are read later than before.
    if (std::any_of(sources->tensors.begin(), sources->tensors.end(),
                    [&](const Tensor* tensor) { return graph.producerCount(tensor) > 1; }))
        return;
    Command fused;
    fused.type = OpType::ResizedConvolution;
    fused.name = convolution.name;
    fused.inputs = sources->tensors;
    fused.outputs = convolution.outputs;
    auto params = std::make_shared<ResizedConvolutionParams>();
    params->parts = sources->parts;
    params->convolution = convolution;
    fused.params = std::move(params);
    if (!backend.canFuse(fused)) return;
    for (const Id producer : sources->producers) graph.erase(producer, id);
    graph.replace(id, std::move(fused));
}

}  // namespace

void fuseResizedConvolution(CommandGraph& graph, const PlanContext& context) {
    for (const Id id : graph.ids()) {
        if (!graph.contains(id)) continue;
        const Command& command = graph.command(id);
        if (command.type == OpType::Convolution && hasOneFloatOperand(command))
            fuse(graph, context.backend, id);
    }
}

}  // namespace mnnc
