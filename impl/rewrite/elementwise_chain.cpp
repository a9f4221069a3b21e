#include "rewrite/elementwise_chain.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "ops/activation.h"
#include "ops/elementwise_chain.h"

namespace mnnc {

namespace {

constexpr size_t kNone = SIZE_MAX;
constexpr size_t kMostSteps = 24, kMostInputs = 16;
constexpr size_t kMostReaders = 32;  // of a result that is used inside
// A chain runs where its last command was, and what it reads has to live until then.
constexpr size_t kReach = 16;

// Whether two tensors have the same elements in the same order, however they will be stored.
bool sameElements(const Tensor& a, const Tensor& b) {
    return a.shape == b.shape && (a.format == Format::NHWC) == (b.format == Format::NHWC);
}

class Chains {
  public:
    Chains(const std::vector<Command*>& commands, const Backend& backend,
           const std::function<bool(const Tensor*)>& kept, std::vector<size_t>& owners)
        : commands_(commands),
          backend_(backend),
          kept_(kept),
          owners_(owners),
          groupOf_(commands.size(), kNone) {
        for (size_t i = 0; i < commands.size(); ++i) {
            if (owners[i] != i) continue;
            for (const Tensor* output : commands[i]->outputs) {
                Use& use = uses_[output];
                use.maker = use.makers++ == 0 ? i : kNone;
            }
            for (const Tensor* input : commands[i]->inputs) {
                std::vector<size_t>& readers = uses_[input].readers;
                if (readers.empty() || readers.back() != i) readers.push_back(i);
            }
        }
    }

    void run() {
        for (size_t i = 0; i < commands_.size(); ++i)
            if (owners_[i] == i && isElementwise(i)) join(i);
        for (const std::vector<size_t>& group : groups_)
            if (group.size() > 1) become(group);
    }

  private:
    struct Use {
        size_t maker = kNone;  // kNone: none, or several
        int makers = 0;
        std::vector<size_t> readers;  // ascending
    };

    Tensor* out(size_t i) const { return commands_[i]->outputs[0]; }

    bool isElementwise(size_t i) const {
        const Command& command = *commands_[i];
        size_t operands = 1;
        switch (command.type) {
            case OpType::BinaryOp:
                operands = 2;
                break;
            case OpType::PReLU:
                if (command.paramsAs<PReluParams>()->slopes.size() != 1) return false;
                break;
            case OpType::UnaryOp:
            case OpType::ReLU:
            case OpType::ReLU6:
            case OpType::ELU:
            case OpType::Selu:
            case OpType::Threshold:
                break;
            default:
                return false;
        }
        if (command.inputs.size() != operands || command.outputs.size() != 1 || command.epilogue.any() ||
            !command.views.empty() || out(i)->type != DataType::Float32 || uses_.at(out(i)).maker != i)
            return false;
        bool whole = false;
        for (const Tensor* input : command.inputs) {
            if (input->type != DataType::Float32) return false;
            if (sameElements(*input, *out(i)))
                whole = true;
            else if (input->elements() != 1)
                return false;
        }
        return whole;
    }

    // Command i ends the chains that make its operands, or begins one.
    void join(size_t i) {
        std::vector<size_t> members = {i};
        std::set<size_t> joined;
        for (const Tensor* input : commands_[i]->inputs) {
            const auto use = uses_.find(input);
            if (use == uses_.end() || use->second.maker == kNone || !sameElements(*input, *out(i))) continue;
            const size_t group = groupOf_[use->second.maker];
            if (group == kNone || joined.count(group) > 0) continue;
            std::vector<size_t> both;
            std::merge(members.begin(), members.end(), groups_[group].begin(), groups_[group].end(),
                       std::back_inserter(both));
            if (!isChain(both, groups_[group].back())) continue;
            members = std::move(both);
            joined.insert(group);
        }
        for (const size_t group : joined) groups_[group].clear();
        for (const size_t member : members) groupOf_[member] = groups_.size();
        groups_.push_back(std::move(members));
    }

    // Whether the members, of which the first ones were a chain up to `before`, may all run at the place of the last.
    bool isChain(const std::vector<size_t>& members, size_t before) const {
        if (members.size() > kMostSteps) return false;
        const size_t last = members.back();
        for (const size_t member : members) {
            if (member == last) continue;
            const std::vector<size_t>& readers = uses_.at(out(member)).readers;
            if (kept_(out(member)) || readers.size() > kMostReaders) return false;
            for (const size_t reader : readers)
                if (reader < last && !std::binary_search(members.begin(), members.end(), reader))
                    return false;
        }
        size_t tensors = 0;
        const std::vector<Tensor*> inputs = inputsOf(members);
        for (const Tensor* input : inputs) tensors += input->elements() != 1;
        return inputs.size() <= kMostInputs && (tensors <= 1 || last - before <= kReach);
    }

    std::vector<Tensor*> inputsOf(const std::vector<size_t>& members) const {
        std::vector<Tensor*> inputs;
        for (const size_t member : members)
            for (Tensor* input : commands_[member]->inputs) {
                const auto use = uses_.find(input);
                const bool inside = use != uses_.end() &&
                                    std::binary_search(members.begin(), members.end(), use->second.maker);
                if (!inside && std::find(inputs.begin(), inputs.end(), input) == inputs.end())
                    inputs.push_back(input);
            }
        return inputs;
    }

    void become(const std::vector<size_t>& members) {
        const size_t last = members.back();
        Command chain;
        chain.type = OpType::ElementwiseChain;
        chain.name = commands_[last]->name;
        chain.inputs = inputsOf(members);
        auto params = std::make_shared<ElementwiseChainParams>();
        std::unordered_map<const Tensor*, size_t> values;
        for (const Tensor* input : chain.inputs) values.emplace(input, values.size());
        for (const size_t member : members) {
            const Command& command = *commands_[member];
            ChainStep step{command.type, command.params, {}};
            for (const Tensor* input : command.inputs) step.operands.push_back(values.at(input));
            const std::vector<size_t>& readers = uses_.at(out(member)).readers;
            if (member == last || (!readers.empty() && readers.back() > last)) {
                chain.outputs.push_back(out(member));
                params->results.push_back(params->steps.size());
            }
            values.emplace(out(member), values.size());
            params->steps.push_back(std::move(step));
        }
        chain.params = std::move(params);
        if (!backend_.canFuse(chain)) return;
        *commands_[last] = std::move(chain);
        for (const size_t member : members) owners_[member] = last;
    }

    const std::vector<Command*>& commands_;
    const Backend& backend_;
    const std::function<bool(const Tensor*)>& kept_;
    std::vector<size_t>& owners_;
    std::unordered_map<const Tensor*, Use> uses_;
    std::vector<size_t> groupOf_;
    std::vector<std::vector<size_t>> groups_;  // ascending; empty: part of a later one
};

}  // namespace

void chainElementwise(const std::vector<Command*>& commands, const Backend& backend,
                      const std::function<bool(const Tensor*)>& kept, std::vector<size_t>& owners) {
    Chains(commands, backend, kept, owners).run();
}

}  // namespace mnnc
