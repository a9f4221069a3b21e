// The pass share-packings, for convolutions that read packed channels.
#include <map>

#include "plan/passes.h"

namespace mnnc {

void sharePackings(CommandGraph& graph, const PlanContext& context) {
    std::map<const Operand*, std::vector<CommandGraph::Id>> consumers;
    for (const CommandGraph::Id id : graph.ids()) {
        if (graph.isControl(id) || graph.command(id).fp32) continue;
        const Command& command = graph.command(id);
        if (command.type == OpType::Convolution && command.operands() > 1 && command.inputs[1]->content &&
            graph.storage(id).choice.blockOf(0) > 1)
            consumers[command.inputs[1]].push_back(id);
    }
    for (const auto& [weights, ids] : consumers) {
        if (ids.size() < 2) continue;
        std::vector<const Command*> commands;
        for (const CommandGraph::Id id : ids) commands.push_back(&graph.command(id));
        const int algorithm = context.backend.commonAlgorithm(commands);
        if (algorithm == 0) continue;
        for (const CommandGraph::Id id : ids) {
            Command command = graph.command(id);
            command.algorithm = algorithm;
            graph.replace(id, std::move(command));
        }
    }
}

}  // namespace mnnc
