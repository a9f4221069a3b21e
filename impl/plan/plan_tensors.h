// The tensors of one plan by number: those of the graph that its operators read or write, those between the commands of
// an operator, and those that passes add.
#pragma once
#include <memory>
#include <unordered_map>
#include <utility>

#include "plan/operand_numbers.h"
#include "tensor/operand.h"

namespace mnnc {

class PlanTensors {
  public:
    using Shared = std::shared_ptr<Operand>;

    // Adds a tensor by its number. It replaces a tensor with the same number, because a damaged graph may produce a
    // tensor twice.
    Operand* add(Operand tensor) {
        Shared& shared = tensors_[tensor.number];
        if (shared)
            *shared = std::move(tensor);
        else
            shared = std::make_shared<Operand>(std::move(tensor));
        return shared.get();
    }
    // Returns the tensor with this number; null: there is none.
    Operand* find(int number) const noexcept {
        const auto found = tensors_.find(number);
        return found == tensors_.end() ? nullptr : found->second.get();
    }
    // Calls each(operand) for all operands, in any order.
    template <typename Each>
    void forEach(Each&& each) const {
        for (const auto& [number, operand] : tensors_) each(std::as_const(*operand));
    }
    // Returns a reference that keeps a tensor alive for longer than the plan.
    Shared keep(int number) const { return tensors_.at(number); }

    // Adds a tensor that a pass makes like another one of the plan, without contents.
    Operand* addLike(const Operand& like, OperandNumbers& numbers, int stage) {
        Operand tensor;
        tensor.name = like.name;
        tensor.shape = like.shape;
        tensor.type = like.type;
        tensor.format = like.format;
        tensor.list = like.list;
        tensor.number = numbers.of(OperandNumbers::Kind::Storage, stage, like.number, madeLike_[like.number]++);
        originals_[tensor.number] = like.number;
        return add(std::move(tensor));
    }
    // Returns the number of the tensor from which addLike() derived this one, in one or several steps; its own number
    // if it was not derived.
    int original(int number) const {
        for (auto at = originals_.find(number); at != originals_.end(); at = originals_.find(number))
            number = at->second;
        return number;
    }

  private:
    std::unordered_map<int, Shared> tensors_;
    std::unordered_map<int, int> originals_, madeLike_;
};

}  // namespace mnnc
