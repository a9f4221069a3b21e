// The pass fuse-composites: applies the patterns of the backend one after the other.
#include <algorithm>
#include <unordered_map>

#include "plan/fused_command.h"
#include "plan/passes.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;

bool contains(const std::vector<Id>& members, Id id) {
    return std::find(members.begin(), members.end(), id) != members.end();
}

}  // namespace

Command fusedCommand(const CommandGraph& graph, const FusionPattern& pattern, const FusionMatch& match) {
    const Id last = match.members.back();
    auto params = std::make_shared<FusedParams>();
    params->pattern = &pattern;
    params->prepared = match.prepared;
    Command fused;
    fused.type = OpType::Fused;
    fused.name = graph.command(last).name;
    fused.node = graph.command(last).node;

    const auto isMember = [&](Id id) { return contains(match.members, id); };
    fused.inputs = fusedInputs(graph, match.members);
    std::unordered_map<const Operand*, size_t> values;
    for (const Operand* input : fused.inputs) values.emplace(input, values.size());
    for (const Id member : match.members) {
        const Command& command = graph.command(member);
        Operand* result = command.outputs[0];
        FusedStep step{command.type, command.name,  command.params, command.epilogue, command.regions,
                       {},           result->shape, result->type,   result->format};
        for (const Operand* input : command.inputs) step.operands.push_back(values.at(input));
        const std::vector<Id>& consumers = graph.consumers(result);
        if (member == last || !std::all_of(consumers.begin(), consumers.end(), isMember)) {
            fused.outputs.push_back(result);
            params->results.push_back(params->steps.size());
        }
        params->steps.push_back(std::move(step));
        values.emplace(result, fused.inputs.size() + params->steps.size() - 1);
    }
    fused.params = std::move(params);
    return fused;
}

void replaceMembers(CommandGraph& graph, const std::vector<Id>& members, Command fused) {
    const Id last = members.back();
    for (const Id member : members)
        if (member != last) graph.erase(member, last);
    graph.replace(last, std::move(fused));
}

std::vector<Operand*> fusedInputs(const CommandGraph& graph, const std::vector<Id>& members) {
    std::vector<Operand*> inputs;
    for (const Id member : members)
        for (Operand* input : graph.command(member).inputs) {
            const Id producer = graph.producer(input);
            const bool inside = producer != CommandGraph::kNone && contains(members, producer);
            if (!inside && std::find(inputs.begin(), inputs.end(), input) == inputs.end()) inputs.push_back(input);
        }
    return inputs;
}

void fuseComposites(CommandGraph& graph, const PlanContext& context) {
    bool anyFused = false;
    const auto isFp32 = [&](Id id) { return graph.command(id).fp32; };
    for (const FusionPattern* pattern : context.backend.patterns())
        for (const FusionMatch& match : pattern->match(graph, context.backend)) {
            // A pattern prepares its command for the precision of the backend, which fp32 operators do not use.
            if (std::any_of(match.members.begin(), match.members.end(), isFp32)) continue;
            replaceMembers(graph, match.members, fusedCommand(graph, *pattern, match));
            anyFused = true;
        }
    // Fused commands choose storages too, and the consumers of their results depend on that.
    if (anyFused) assignStorage(graph, context);
}

}  // namespace mnnc
