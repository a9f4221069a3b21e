// Numbers of the operands of a pipeline's programs, by which a frame says where they lie. What plays the same part in
// several plans has the same number in all of them, so that the table of a frame does not grow with each plan.
#pragma once
#include <map>
#include <mutex>
#include <tuple>

namespace mnnc {

class OperandNumbers {
  public:
    enum class Kind {
        Operator,  // temporary tensors of an operator, which is the owner
        Constant,  // what passes compute for the plans of a stage
        Storage,   // what passes make like another operand
        Scratch    // of the steps of a stage
    };

    // Numbers below `first` belong to the tensors of the graph.
    explicit OperandNumbers(int first) : end_(first) {}
    // Of the n-th such operand of an owner in a stage. Pipelines of several sessions may have the same numbers and ask
    // at the same time.
    int of(Kind kind, int stage, int owner, int n) {
        const std::lock_guard lock(mutex_);
        const auto [found, added] = numbers_.emplace(std::tuple{kind, stage, owner, n}, end_);
        if (added) ++end_;
        return found->second;
    }
    // One more than the highest number so far.
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
