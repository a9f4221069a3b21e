// The producers and the consumers of the tensors of a scope.
#pragma once
#include "builder.h"

namespace mnnc::onnx {

class Links {
  public:
    // outputs: tensors that the scope's caller reads.
    Links(const Scope& scope, const std::vector<int>& outputs)
        : producers_(scope.tensors.size(), -1), consumers_(scope.tensors.size()), isOutput_(scope.tensors.size(), 0) {
        for (const int id : outputs) ++isOutput_[at(id)];
        for (size_t i = 0; i < scope.operators.size(); ++i) {
            const wire::OpT& op = scope.operators[i].op;
            for (const int id : op.outputIndexes) producers_[at(id)] = static_cast<int>(i);
            for (const int id : op.inputIndexes) consumers_[at(id)].push_back(i);
        }
    }

    // The operator that produces a tensor; -1: there is none.
    int producer(int tensor) const { return producers_[at(tensor)]; }
    void setProducer(int tensor, int op) { producers_[at(tensor)] = op; }
    // The operators that read a tensor. An operator that reads it twice is listed twice.
    const std::vector<size_t>& consumers(int tensor) const { return consumers_[at(tensor)]; }
    // Whether a tensor is read once.
    bool usedOnce(int tensor) const { return consumers(tensor).size() + isOutput_[at(tensor)] == 1; }
    // The only consumer of a tensor; -1: the caller reads it, or several do, or none.
    int onlyConsumer(int tensor) const {
        return usedOnce(tensor) && !isOutput_[at(tensor)] ? static_cast<int>(consumers(tensor)[0]) : -1;
    }

  private:
    static size_t at(int id) { return static_cast<size_t>(id); }

    std::vector<int> producers_;
    std::vector<std::vector<size_t>> consumers_;
    std::vector<size_t> isOutput_;
};

// Calls action(scope, the tensors that are read outside of it) for the net and for each body.
template <typename Action>
void forEachScope(Builder& builder, const std::vector<V>& outputs, Action action) {
    const std::vector<int> ids = tensorsOf(outputs);
    bool first = true;
    for (Scope& scope : builder.scopes()) {
        if (first || !scope.name.empty()) action(scope, first ? ids : scope.outputs);
        first = false;
    }
}

// Erases the operators of a scope that are marked.
inline void eraseMarked(Scope& scope, const std::vector<bool>& marked) {
    size_t i = 0;
    std::erase_if(scope.operators, [&](const Operator&) { return marked[i++]; });
}

}  // namespace mnnc::onnx
