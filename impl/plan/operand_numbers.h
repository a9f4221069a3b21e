// Numbers of the operands of a pipeline's programs, by which a frame finds their places. Operands of the same role have
// the same number in all plans, so that the table of a frame does not grow with each plan.
#pragma once
#include <map>
#include <mutex>
#include <tuple>

namespace mnnc {

class OperandNumbers {
  public:
    enum class Kind {
        Operator,  // temporary tensors of an operator, which is the owner
        Constant,  // tensors that passes compute for the plans of a stage
        Storage,   // tensors that passes make like another operand
        Scratch    // scratch of the steps of a stage
    };

    // Numbers below `first` belong to the tensors of the graph.
    explicit OperandNumbers(int first) : end_(first) {}
    // Returns the number of an owner's n-th operand of a kind in a stage. Pipelines of several sessions may share the
    // numbers and call this at the same time.
    int of(Kind kind, int stage, int owner, int n) {
        const std::lock_guard lock(mutex_);
        const auto [found, added] = numbers_.emplace(std::tuple{kind, stage, owner, n}, end_);
        if (added) ++end_;
        return found->second;
    }
    // Returns one more than the highest number so far.
    int end() const {
        const std::lock_guard lock(mutex_);
        return end_;
    }

  private:
    mutable std::mutex mutex_;
    std::map<std::tuple<Kind, int, int, int>, int> numbers_;
    int end_;
};

}  // namespace mnnc
