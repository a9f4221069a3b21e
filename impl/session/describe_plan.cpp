// Describes the plan of a stage in terms of the graph's tensors.
#include <functional>
#include <unordered_map>

#include "session/planned_graph.h"
#include "session/stage.h"

namespace mnnc {

void Stage::describe(PlannedGraph& graph) const {
    const Tensor* first = tensors_.data();
    const size_t count = tensors_.size() - schedule_.furtherLike.size();
    const auto isOfGraph = [&](const Tensor* tensor) {
        return !std::less<>()(tensor, first) && std::less<>()(tensor, first + count);
    };
    const auto originals = plan_->originals();
    std::unordered_map<const Tensor*, int> others;
    const auto numberOf = [&](const Tensor* tensor) {
        for (auto at = originals.find(tensor); at != originals.end(); at = originals.find(tensor))
            tensor = at->second;
        if (isOfGraph(tensor)) return static_cast<int>(tensor - first);
        const auto [found, added] = others.try_emplace(tensor, graph.lastOther - 1);
        if (added) --graph.lastOther;
        return found->second;
    };
    const auto numbersOf = [&](const std::vector<Tensor*>& tensors) {
        std::vector<int> numbers;
        for (const Tensor* tensor : tensors) numbers.push_back(numberOf(tensor));
        return numbers;
    };
    for (const PlannedStep& step : plan_->steps)
        for (const OpCall& call : step.calls)
            if (!call.inserted)
                graph.calls.push_back({call.record, numbersOf(call.inputs), numbersOf(call.outputs)});
    const auto add = [&](int id) {
        if (id < 0 || static_cast<size_t>(id) >= count) return;
        const Tensor& tensor = first[id];
        graph.tensors[id] = {tensor.shape, tensor.type, tensor.hasConstantValue};
    };
    for (const Item& item : items_) {
        for (const int id : item.op->node->inputs) add(id);
        for (const int id : item.op->node->outputs)
            if (!item.control) add(id);  // a run decides what control flow makes
    }
}

}  // namespace mnnc
