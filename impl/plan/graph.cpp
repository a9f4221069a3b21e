// Keeps producers and consumers of every tensor up to date while commands are inserted, replaced and erased.
#include "plan/graph.h"

#include <algorithm>
#include <unordered_set>

#include "backend/fusion.h"
#include "base/error.h"
#include "plan/operand_text.h"

namespace mnnc {

CommandGraph::Id CommandGraph::append(Command command, double flops, std::string refusal) {
    return add({std::move(command), flops, std::move(refusal)}, order_.size());
}

CommandGraph::Id CommandGraph::appendControl(OpType type, std::string name, std::vector<Operand*> reads) {
    Node node;
    node.command.type = type;
    node.command.name = std::move(name);
    node.command.inputs = std::move(reads);
    node.control = true;
    return add(std::move(node), order_.size());
}

CommandGraph::Id CommandGraph::insertBefore(Id id, Command command, double flops) {
    return add({std::move(command), flops}, position(id));
}

CommandGraph::Id CommandGraph::insertAfter(Id id, Command command, double flops) {
    return add({std::move(command), flops}, position(id) + 1);
}

CommandGraph::Id CommandGraph::add(Node node, size_t position) {
    const Id id = nodes_.size();
    nodes_.push_back(std::move(node));
    order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(position), id);
    for (size_t i = position; i < order_.size(); ++i) nodes_[order_[i]].position = i;
    connect(id);
    return id;
}

std::vector<CommandGraph::Id> CommandGraph::ids() const {
    std::vector<Id> result;
    result.reserve(order_.size());
    std::copy_if(order_.begin(), order_.end(), std::back_inserter(result), [&](Id id) { return contains(id); });
    return result;
}

const CommandGraph::Uses& CommandGraph::usesOf(const Operand* tensor) const {
    const auto found = uses_.find(tensor);
    return found == uses_.end() ? unused_ : found->second;
}

CommandGraph::Id CommandGraph::producer(const Operand* tensor) const {
    const Uses& uses = usesOf(tensor);
    return uses.producers.size() == 1 ? uses.producers[0] : kNone;
}

CommandGraph::Id CommandGraph::onlyConsumer(const Operand* tensor) const {
    const Uses& uses = usesOf(tensor);
    if (uses.producers.size() != 1 || uses.operands != 1 || !runsBefore(uses.producers[0], uses.consumers[0]) ||
        isLiveOut(tensor))
        return kNone;
    return uses.consumers[0];
}

void CommandGraph::connect(Id id) {
    const Command& command = nodes_[id].command;
    for (const Operand* output : command.outputs) uses_[output].producers.push_back(id);
    for (const Operand* input : command.inputs) {
        Uses& uses = uses_[input];
        ++uses.operands;
        const auto at = std::lower_bound(uses.consumers.begin(), uses.consumers.end(), id,
                                         [&](Id a, Id b) { return runsBefore(a, b); });
        if (at == uses.consumers.end() || *at != id) uses.consumers.insert(at, id);
    }
}

void CommandGraph::disconnect(Id id) {
    const Command& command = nodes_[id].command;
    for (const Operand* output : command.outputs) {
        std::vector<Id>& producers = uses_.at(output).producers;
        producers.erase(std::find(producers.begin(), producers.end(), id));
    }
    for (const Operand* input : command.inputs) {
        Uses& uses = uses_.at(input);
        --uses.operands;
        std::erase(uses.consumers, id);
    }
}

void CommandGraph::replace(Id id, Command command) {
    disconnect(id);
    command.fp32 |= nodes_[id].command.fp32;
    nodes_[id].command = std::move(command);
    connect(id);
}

void CommandGraph::erase(Id id, Id mergedInto) {
    disconnect(id);
    nodes_[id].erased = true;
    nodes_[mergedInto].flops += nodes_[id].flops;
    nodes_[mergedInto].command.fp32 |= nodes_[id].command.fp32;
}

void CommandGraph::verify() const {
    std::unordered_map<const Operand*, Uses> expected;
    std::unordered_set<const Operand*> written;
    for (const Id id : ids()) {
        const Command& command = this->command(id);
        if (order_[position(id)] != id)
            fail(Status::Internal, "plan: command '%s' is not at its position in the order", command.name.c_str());
        for (const Operand* input : command.inputs) {
            Uses& uses = expected[input];
            ++uses.operands;
            if (uses.consumers.empty() || uses.consumers.back() != id) uses.consumers.push_back(id);
            if (producerCount(input) == 1 && written.count(input) == 0)
                fail(Status::Internal, "plan: command '%s' reads tensor '%s' before command '%s' writes it",
                     command.name.c_str(), input->name.c_str(), this->command(producer(input)).name.c_str());
        }
        for (const Operand* output : command.outputs) {
            expected[output].producers.push_back(id);
            written.insert(output);
        }
    }
    for (const auto& [tensor, uses] : uses_) {
        const Uses& wanted = expected[tensor];
        if (!std::is_permutation(uses.producers.begin(), uses.producers.end(), wanted.producers.begin(),
                                 wanted.producers.end()) ||
            uses.consumers != wanted.consumers || uses.operands != wanted.operands)
            fail(Status::Internal, "plan: the recorded uses of tensor '%s' differ from those in the commands",
                 tensor->name.c_str());
    }
}

std::string CommandGraph::text() const {
    std::string text;
    size_t number = 0;
    for (const Id id : ids()) {
        const Command& command = this->command(id);
        text += format("%4zu %s '%s'%s (%s)", number++, typeName(command), command.name.c_str(),
                       epilogueText(command.epilogue).c_str(), joined(command.inputs, operandText).c_str());
        if (!command.outputs.empty()) text += " -> " + joined(command.outputs, operandText);
        if (!command.regions.empty()) text += format(", %zu regions", command.regions.size());
        if (!command.views.empty()) text += ", operands read through rasters";
        if (storage(id).isView) text += ", a view";
        if (command.algorithm != 0) text += ", algorithm shared with others";
        if (flops(id) > 0) text += format(", %.3g FLOP", flops(id));
        text += "\n";
    }
    return text;
}

}  // namespace mnnc
