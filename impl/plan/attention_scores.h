// Reads the commands between the scores of attention and their softmax, as steps of the attention command.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "ops/attention_layout.h"
#include "plan/graph.h"
#include "plan/head_matrices.h"

namespace mnnc {

// Returns the factor of a product, or of a quotient, with a number that is known while planning.
std::optional<float> knownFactor(const Command& command, const Operand* value);

class ScoreReader {
  public:
    using Id = CommandGraph::Id;

    // Appends the commands that it reads to `members`. `mayTake`: whether a command may become a member.
    ScoreReader(const CommandGraph& graph, const std::function<bool(Id)>& mayTake, std::vector<Id>& members)
        : graph_(graph), mayTake_(mayTake), members_(members) {}

    // Begins with the scores that a matrix product of this many rows and columns makes. The axis of `softmax` decides
    // whether rows or columns belong to keys; returns false where it is neither.
    bool begin(const Operand* product, int64_t rows, int64_t columns, const Command& softmax);
    bool keysAreRows() const { return keysAreRows_; }
    void multiply(float factor) { pending_ *= factor; }
    // Reads the next command, which consumes the present scores; returns false where attention has no such step.
    bool take(Id id);
    // Returns whether a Softmax over the present scores runs over all keys of each query.
    bool isOverKeys(const Command& softmax) const;

    std::vector<AttentionStep>& steps() { return steps_; }
    const std::vector<Operand*>& operands() const { return operands_; }  // operands of the steps
    float pending() const { return pending_; }                           // the scale after the last step

  private:
    bool takeBinary(Id id);
    bool takeSelect(Id id);
    bool addMask(AttentionStep::Kind kind, Operand* operand, Id consumer, const ScoreAxes& axes);
    bool addMaskThrough(AttentionStep::Kind kind, Id id, const ScoreAxes& axes);
    bool addStep(AttentionStep::Kind kind, Operand* operand, const OperandView& view, const ScoreAxes& axes);

    const CommandGraph& graph_;
    const std::function<bool(Id)>& mayTake_;
    std::vector<Id>& members_;
    std::vector<AttentionStep> steps_;
    std::vector<Operand*> operands_;
    float pending_ = 1;
    // The present scores.
    const Operand* value_ = nullptr;
    std::optional<ScoreAxes> axes_;
    int64_t rows_ = 0, columns_ = 0;
    bool keysAreRows_ = false;
};

}  // namespace mnnc
