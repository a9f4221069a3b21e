// What a command of type Attention computes: the sizes of a problem, and where each head's matrices lie in the
// operands. The operator of a file has fixed places; attention that a net wrote with single operators keeps those that
// its tensors have.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "ir/params.h"

namespace mnnc {

// Where an operand of every head lies in its tensor; those of all entries of the batch are counted one after another.
// Steps are in elements.
struct AttentionOperand {
    std::vector<size_t> heads;  // where the operand of each head begins; none: all of them at the tensor's beginning
    size_t rowStep = 0;         // from one row, whose elements are neighbours, to the next
    size_t at(int head) const { return heads.empty() ? 0 : heads[static_cast<size_t>(head)]; }

    bool operator==(const AttentionOperand&) const = default;
};

// Elements of a mask's row for neighbouring keys, from this one to that of the next run: element `place` for all of
// them, or (step 1) the elements from there on.
struct AttentionRun {
    int32_t key = 0, place = 0, step = 0;

    bool operator==(const AttentionRun&) const = default;
};

// One change of the scores between the products. Rows of its operand belong to queries, columns to keys.
struct AttentionStep {
    enum class Kind {
        Multiply,  // by a number for each head
        Add,
        Keep,  // those where an int32 is not 0; where it is, or the other way round, scores become `dropped`
    } kind = Kind::Multiply;
    float scale = 1;  // of the scores before
    AttentionOperand operand;
    size_t columnStep = 1;           // 0 or 1
    std::vector<AttentionRun> runs;  // instead of the step, with one more behind all keys
    float dropped = std::numeric_limits<float>::lowest();
    bool keepsZeros = false;

    bool operator==(const AttentionStep&) const = default;
};

constexpr size_t kMaxAttentionSteps = 8;

struct AttentionLayout {
    int heads = 0, share = 1;  // `share` neighbouring heads have the same keys and values
    int queries = 0, keys = 0, depth = 0, valueDepth = 0;
    float scale = 1;  // of the scores before their softmax, after all steps
    AttentionOperand q, k, v, out;
    // Rows are a value of all queries, or keys, and not the values of one of them.
    bool queriesTransposed = false, keysTransposed = false, valuesTransposed = false, outTransposed = false;
    std::vector<AttentionStep> steps;  // kMaxAttentionSteps at most
    bool hasSinks = false;
    AttentionOperand sinks;  // a score without a value for each head

    bool operator==(const AttentionLayout&) const = default;
};

// The parameters of the command, whose inputs are queries, keys, values, an operand for each step, and the sinks where
// it has some.
struct AttentionForm : ParamsOf<AttentionForm>, AttentionLayout {
    size_t firstStep() const noexcept { return 3; }
    size_t sinksInput() const noexcept { return firstStep() + steps.size(); }
};

}  // namespace mnnc
