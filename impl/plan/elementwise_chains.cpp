// Finds chains of element-wise float commands: extends each chain by the commands that read it.
#include "plan/elementwise_chains.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "ops/activation.h"
#include "plan/fused_command.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;

constexpr size_t kMaxConsumers = 32;  // of a result that is used inside of a chain
// A chain runs where its last command was, and the operands of its members have to live until then.
constexpr size_t kMaxDistance = 16;

// Returns whether two tensors have the same elements in the same order in any storage.
bool sameElements(const Operand& a, const Operand& b) {
    return a.shape == b.shape && (a.format == Format::NHWC) == (b.format == Format::NHWC);
}

class ChainFinder {
  public:
    ChainFinder(const CommandGraph& graph, const ChainLimits& limits) : graph_(graph), limits_(limits) {}

    std::vector<FusionMatch> run() {
        for (const Id id : graph_.ids())
            if (isElementwise(id)) extendChains(id);
        std::vector<FusionMatch> matches;
        for (std::vector<Id>& chain : chains_)
            if (chain.size() >= std::max<size_t>(limits_.minCommands, 1))
                matches.push_back({std::move(chain), nullptr});
        return matches;
    }

  private:
    Operand* result(Id id) const { return graph_.command(id).outputs[0]; }
    bool runsBefore(Id a, Id b) const { return graph_.runsBefore(a, b); }
    static bool hasOperandCount(const Command& command) {
        switch (command.type) {
            case OpType::BinaryOp:
                return command.inputs.size() == 2;
            case OpType::PReLU:
                return command.inputs.size() == 1 && command.paramsAs<PReluParams>().slopes.size() == 1;
            case OpType::UnaryOp:
            case OpType::ReLU:
            case OpType::ReLU6:
            case OpType::ELU:
            case OpType::Selu:
            case OpType::Threshold:
                return command.inputs.size() == 1;
            default:
                return false;
        }
    }

    bool isElementwise(Id id) const {
        const Command& command = graph_.command(id);
        if (!hasOperandCount(command) || command.outputs.size() != 1 || command.epilogue.any() ||
            !command.views.empty() || result(id)->type != DataType::Float32 || graph_.producer(result(id)) != id ||
            (limits_.accepts && !limits_.accepts(command)))
            return false;
        bool whole = false;
        for (const Operand* input : command.inputs) {
            if (input->type != DataType::Float32) return false;
            if (sameElements(*input, *result(id)))
                whole = true;
            else if (input->elements() != 1)
                return false;
        }
        return whole;
    }

    bool contains(const std::vector<Id>& members, Id id) const {
        return std::binary_search(members.begin(), members.end(), id, [&](Id a, Id b) { return runsBefore(a, b); });
    }

    // Appends the command to the chains that produce its operands, or begins one.
    void extendChains(Id id) {
        std::vector<Id> members = {id};
        std::set<size_t> joined;
        for (const Operand* input : graph_.command(id).inputs) {
            const Id producer = graph_.producer(input);
            const auto found = chainOf_.find(producer);
            if (found == chainOf_.end() || !sameElements(*input, *result(id))) continue;
            const size_t chain = found->second;
            if (joined.count(chain) > 0) continue;
            std::vector<Id> both;
            std::merge(members.begin(), members.end(), chains_[chain].begin(), chains_[chain].end(),
                       std::back_inserter(both), [&](Id a, Id b) { return runsBefore(a, b); });
            if (!isChain(both, chains_[chain].back())) continue;
            members = std::move(both);
            joined.insert(chain);
        }
        for (const size_t chain : joined) chains_[chain].clear();
        for (const Id member : members) chainOf_[member] = chains_.size();
        chains_.push_back(std::move(members));
    }

    // Returns whether all members may run at the place of the last one. The members up to `before` have been checked
    // already.
    bool isChain(const std::vector<Id>& members, Id before) const {
        if (members.size() > limits_.steps) return false;
        const Id last = members.back();
        size_t outputs = 1;
        for (const Id member : members) {
            if (member == last) continue;
            const std::vector<Id>& consumers = graph_.consumers(result(member));
            if (graph_.isLiveOut(result(member)) || consumers.size() > kMaxConsumers) return false;
            bool readOutside = false;
            for (const Id consumer : consumers) {
                if (contains(members, consumer)) continue;
                if (runsBefore(consumer, last)) return false;
                readOutside = true;
            }
            outputs += readOutside;
        }
        size_t tensors = 0, counted = 0;
        for (const Operand* input : fusedInputs(graph_, members)) {
            tensors += input->elements() != 1;
            counted += !limits_.literals || !isKnownNumber(*input);
        }
        return outputs <= limits_.outputs && counted <= limits_.inputs &&
               (tensors <= 1 || graph_.position(last) - graph_.position(before) <= kMaxDistance);
    }

    const CommandGraph& graph_;
    const ChainLimits& limits_;
    std::unordered_map<Id, size_t> chainOf_;
    std::vector<std::vector<Id>> chains_;  // in execution order; empty: merged into a later one
};

}  // namespace

std::vector<FusionMatch> findElementwiseChains(const CommandGraph& graph, const ChainLimits& limits) {
    return ChainFinder(graph, limits).run();
}

}  // namespace mnnc
