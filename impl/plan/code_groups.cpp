// Finds groups of commands that may compute over int8 codes. The search begins with all candidates, and removes those
// with an operand that is not produced as codes, or with a consumer that takes floats, until nothing changes.
#include "plan/code_groups.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ops/interp.h"
#include "plan/elementwise_chains.h"
#include "plan/fused_command.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;

class GroupFinder {
  public:
    GroupFinder(const CommandGraph& graph, const Backend& backend, const CodeQuery& query)
        : graph_(graph), backend_(backend), query_(query) {}

    std::vector<CodeGroup> run() {
        std::unordered_map<Id, CodeGroup> chains = findChains();
        // A removal may concern groups before and after it: in the order of the graph, one pass in each direction
        // clears a long series.
        for (const Id id : graph_.ids()) {
            const auto chain = chains.find(id);
            if (chain != chains.end())
                groups_.push_back(std::move(chain->second));
            else if (!graph_.isControl(id) && grouped_.count(id) == 0 && isCandidate(id))
                groups_.push_back({{id}, {}});
            else
                continue;
            grouped_.insert(groups_.back().members.begin(), groups_.back().members.end());
        }
        bool changed = true;
        const auto removeUnlessStays = [&](CodeGroup& group) {
            if (group.members.empty() || stays(group)) return;
            for (const Id id : group.members) grouped_.erase(id);
            group.members.clear();
            changed = true;
        };
        while (changed) {
            changed = false;
            std::for_each(groups_.begin(), groups_.end(), removeUnlessStays);
            std::for_each(groups_.rbegin(), groups_.rend(), removeUnlessStays);
        }
        std::erase_if(groups_, [](const CodeGroup& group) { return group.members.empty(); });
        return std::move(groups_);
    }

  private:
    // Returns the element-wise chains that may be groups, by their first commands.
    std::unordered_map<Id, CodeGroup> findChains() {
        const FusionPattern* pattern = findPattern(backend_.patterns(), "ElementwiseChain");
        std::unordered_map<Id, CodeGroup> chains;
        if (!pattern) return chains;
        ChainLimits limits;
        limits.inputs = limits.outputs = limits.minCommands = 1;
        limits.literals = true;
        for (FusionMatch& match : findElementwiseChains(graph_, limits)) {
            const std::vector<Operand*> inputs = fusedInputs(graph_, match.members);
            const auto tensors = std::count_if(inputs.begin(), inputs.end(),
                                               [](const Operand* tensor) { return !isKnownNumber(*tensor); });
            if (tensors != 1 || (match.members.size() == 1 && query_.computesCodes(match.members[0]))) continue;
            Command fused = fusedCommand(graph_, *pattern, match);
            if (!backend_.canQuantize(fused)) continue;
            const Id first = match.members.front();
            chains.emplace(first, CodeGroup{std::move(match.members), std::move(fused)});
        }
        return chains;
    }

    bool isCandidate(Id id) const {
        const Command& command = graph_.command(id);
        if (query_.computesCodes(id) || command.outputs.size() != 1 || command.inputs.empty()) return false;
        switch (command.type) {
            case OpType::Raster:
            case OpType::Interp:
            case OpType::Deconvolution:
            case OpType::PReLU:
                break;
            case OpType::BinaryOp:
                if (!floatOperand(command)) return false;
                break;
            default:
                return false;
        }
        return backend_.canQuantize(command);
    }

    bool isMadeAsCodes(const Operand* tensor) const {
        if (!query_.quantOf(tensor)) return false;
        if (query_.isMadeOfCodes(tensor)) return true;
        const Id producer = graph_.producer(tensor);
        return producer != CommandGraph::kNone && (query_.computesCodes(producer) || grouped_.count(producer) > 0);
    }

    bool readsCodes(Id consumer, const Operand* tensor) const {
        if (query_.computesCodes(consumer)) return true;
        return grouped_.count(consumer) > 0 && floatOperand(graph_.command(consumer)) != tensor;
    }

    bool stays(const CodeGroup& group) const {
        const Operand* result = graph_.command(group.members.back()).outputs[0];
        if (result->type != DataType::Float32 || !query_.quantOf(result) || graph_.isLiveOut(result)) return false;
        const std::vector<Id>& consumers = graph_.consumers(result);
        if (consumers.empty() ||
            !std::all_of(consumers.begin(), consumers.end(), [&](Id id) { return readsCodes(id, result); }))
            return false;
        const Command& command = group.isChain() ? group.fused : graph_.command(group.members[0]);
        const Operand* other = group.isChain() ? nullptr : floatOperand(command);
        return std::all_of(command.inputs.begin(), command.inputs.end(), [&](const Operand* input) {
            return input == other || (group.isChain() && isKnownNumber(*input)) || isMadeAsCodes(input);
        });
    }

    const CommandGraph& graph_;
    const Backend& backend_;
    const CodeQuery& query_;
    std::vector<CodeGroup> groups_;
    std::unordered_set<Id> grouped_;  // the members of all groups that are left
};

}  // namespace

std::vector<CodeGroup> findCodeGroups(const CommandGraph& graph, const Backend& backend, const CodeQuery& query) {
    return GroupFinder(graph, backend, query).run();
}

Operand* floatOperand(const Command& command) {
    if (command.type != OpType::BinaryOp || command.inputs.size() != 2) return nullptr;
    const Shape& whole = command.outputs[0]->shape;
    for (Operand* input : command.inputs)
        if (!(input->shape == whole)) return input;
    return nullptr;
}

bool movesCodes(const Command& command) {
    if (command.type == OpType::Raster) return true;
    const auto* interp = command.paramsIf<InterpCommand>();
    return interp && interp->type != ResizeType::Linear;
}

}  // namespace mnnc
