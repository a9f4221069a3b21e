// The pass fuse-composites: the patterns of the backend, one after the other.
#include <algorithm>
#include <unordered_map>

#include "backend/fusion.h"
#include "plan/passes.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;

void fuse(CommandGraph& graph, const FusionPattern& pattern, const FusionMatch& match) {
    const Id last = match.members.back();
    auto params = std::make_shared<FusedParams>();
    params->pattern = &pattern;
    params->prepared = match.prepared;
    Command fused;
    fused.type = OpType::Fused;
    fused.name = graph.command(last).name;

    const auto isMember = [&](Id id) {
        return std::find(match.members.begin(), match.members.end(), id) != match.members.end();
    };
    std::unordered_map<const Tensor*, size_t> values;
    for (const Id member : match.members)
        for (Tensor* input : graph.command(member).inputs) {
            const Id producer = graph.producer(input);
            if (producer != CommandGraph::kNone && isMember(producer)) continue;
            if (values.emplace(input, values.size()).second) fused.inputs.push_back(input);
        }
    for (const Id member : match.members) {
        const Command& command = graph.command(member);
        Tensor* result = command.outputs[0];
        FusedStep step{command.type, command.name,  command.params, command.epilogue, command.regions,
                       {},           result->shape, result->type,   result->format};
        for (const Tensor* input : command.inputs) step.operands.push_back(values.at(input));
        const std::vector<Id>& consumers = graph.consumers(result);
        if (member == last || !std::all_of(consumers.begin(), consumers.end(), isMember)) {
            fused.outputs.push_back(result);
            params->results.push_back(params->steps.size());
        }
        values.emplace(result, values.size());
        params->steps.push_back(std::move(step));
    }
    fused.params = std::move(params);
    for (const Id member : match.members)
        if (member != last) graph.erase(member, last);
    graph.replace(last, std::move(fused));
}

}  // namespace

void fuseComposites(CommandGraph& graph, const PlanContext& context) {
    for (const FusionPattern* pattern : context.backend.patterns())
        for (const FusionMatch& match : pattern->match(graph, context.backend)) fuse(graph, *pattern, match);
}

}  // namespace mnnc
