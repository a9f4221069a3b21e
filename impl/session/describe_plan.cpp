// Describes the program of a stage in terms of the graph's tensors.
#include <unordered_map>

#include "session/planned_graph.h"
#include "session/stage.h"

namespace mnnc {

void Stage::describe(PlannedGraph& graph) const {
    const size_t count = tensors_.count() - schedule_.furtherLike.size();
    std::unordered_map<int, int> others;
    const auto numberOf = [&](const Operand* tensor) {
        const int number = (*program_)->tensors.original(tensor->number);
        if (number > 0 && static_cast<size_t>(number) <= count) return number - 1;
        const auto [found, added] = others.try_emplace(number, graph.lastOther - 1);
        if (added) --graph.lastOther;
        return found->second;
    };
    const auto numbersOf = [&](const std::vector<Operand*>& tensors) {
        std::vector<int> numbers;
        numbers.reserve(tensors.size());
        for (const Operand* tensor : tensors) numbers.push_back(numberOf(tensor));
        return numbers;
    };
    for (const ProgramStep& step : (*program_)->steps)
        for (const OpCall& call : step.calls)
            if (!call.inserted) graph.calls.push_back({call.record, numbersOf(call.inputs), numbersOf(call.outputs)});
    const auto add = [&](int id) {
        if (id < 0 || static_cast<size_t>(id) >= count) return;
        const Operand& tensor = tensors_[id];
        graph.tensors[id] = {tensor.shape, tensor.type, tensor.hasConstantValue};
    };
    for (const Item& item : items_) {
        for (const int id : item.op->node->inputs) add(id);
        for (const int id : item.op->node->outputs)
            if (!item.control) add(id);  // a run decides which tensors control flow makes
    }
}

}  // namespace mnnc
