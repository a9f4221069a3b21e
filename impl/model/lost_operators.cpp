// Searches from missing tensors for the operators that depend on them, and from outputs for those that they need.
#include "model/lost_operators.h"

#include <utility>

#include "mnn_generated.h"

namespace mnnc {

namespace {

using Ops = std::vector<const wire::Op*>;
using Ids = flatbuffers::Vector<int32_t>;

// Returns, by tensor, the operators that have it in the list that `ids` returns.
std::vector<std::vector<uint32_t>> byTensor(const Ops& ops, size_t tensorCount, const Ids* (*ids)(const wire::Op&)) {
    std::vector<std::vector<uint32_t>> result(tensorCount);
    for (size_t i = 0; i < ops.size(); ++i)
        if (const Ids* list = ids(*ops[i]))
            for (const int32_t id : *list) result[static_cast<size_t>(id)].push_back(static_cast<uint32_t>(i));
    return result;
}

const Ids* inputsOf(const wire::Op& op) {
    return op.inputIndexes();
}
const Ids* outputsOf(const wire::Op& op) {
    return op.outputIndexes();
}

// Marks the operators that are reached from `tensors`. From an operator the search continues with the tensors of its
// list `next`.
std::vector<char> reached(const Ops& ops, const std::vector<std::vector<uint32_t>>& operators,
                          std::vector<int32_t> tensors, const Ids* (*next)(const wire::Op&)) {
    std::vector<char> marked(ops.size(), 0), seen(operators.size(), 0);
    while (!tensors.empty()) {
        const auto id = static_cast<size_t>(tensors.back());
        tensors.pop_back();
        if (std::exchange(seen[id], 1)) continue;
        for (const uint32_t i : operators[id]) {
            if (std::exchange(marked[i], 1)) continue;
            if (const Ids* list = next(*ops[i])) tensors.insert(tensors.end(), list->begin(), list->end());
        }
    }
    return marked;
}

}  // namespace

std::vector<char> lostOperators(const Ops& ops, std::vector<char> given) {
    for (const wire::Op* op : ops)
        for (const int32_t id : *op->outputIndexes()) given[static_cast<size_t>(id)] = 1;
    std::vector<int32_t> absent;
    for (size_t id = 0; id < given.size(); ++id)
        if (!given[id]) absent.push_back(static_cast<int32_t>(id));
    return reached(ops, byTensor(ops, given.size(), inputsOf), std::move(absent), outputsOf);
}

std::vector<char> operatorsFor(const Ops& ops, size_t tensorCount, const std::vector<int32_t>& tensors) {
    return reached(ops, byTensor(ops, tensorCount, outputsOf), tensors, inputsOf);
}

}  // namespace mnnc
