// The layout of a command of type Attention: the sizes of the problem, and the places of each head's matrices in the
// operands. The operator of a file has fixed places; attention that a net wrote with single operators keeps the places
// of its tensors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "ir/params.h"

namespace mnnc {

// The places of an operand of all heads in its tensor, for all entries of the batch one after another. Steps are in
// elements.
struct AttentionOperand {
    std::vector<size_t> heads;  // where the operand of each head begins; empty: all begin at the tensor's beginning
    size_t rowStep = 0;         // from one row, whose elements are contiguous, to the next
    size_t at(int head) const { return heads.empty() ? 0 : heads[static_cast<size_t>(head)]; }

    bool operator==(const AttentionOperand&) const = default;
};

// The elements of a mask's row for neighbouring keys, from this key to the key of the next run: element `place` for all
// of them (step 0), or the elements from `place` on (step 1).
struct AttentionRun {
    int32_t key = 0, place = 0, step = 0;

    bool operator==(const AttentionRun&) const = default;
};

// One change of the scores between the two products. Rows of its operand belong to queries, columns to keys.
struct AttentionStep {
    enum class Kind {
        Multiply,  // by a number for each head
        Add,
        Keep,  // keeps scores where an int32 is not 0 (or is 0); others become `dropped`
    } kind = Kind::Multiply;
    float scale = 1;  // factor of the scores before the step
    AttentionOperand operand;
    size_t columnStep = 1;           // 0 or 1
    std::vector<AttentionRun> runs;  // replace columnStep, with an additional one after all keys
    float dropped = std::numeric_limits<float>::lowest();
    bool keepsZeros = false;

    bool operator==(const AttentionStep&) const = default;
};

constexpr size_t kMaxAttentionSteps = 8;

struct AttentionLayout {
    int heads = 0, share = 1;  // `share` neighbouring heads have the same keys and values
    int queries = 0, keys = 0, depth = 0, valueDepth = 0;
    float scale = 1;  // factor of the scores before their softmax, after all steps
    AttentionOperand q, k, v, out;
    // A transposed operand has a row for each component with all queries (or keys), instead of a row for each query (or
    // key).
    bool queriesTransposed = false, keysTransposed = false, valuesTransposed = false, outTransposed = false;
    std::vector<AttentionStep> steps;  // kMaxAttentionSteps at most
    bool hasSinks = false;
    AttentionOperand sinks;  // for each head a score without a value

    bool operator==(const AttentionLayout&) const = default;
};

// The parameters of the command. Its inputs are queries, keys, values, an operand for each step, and the sinks where
// there are any.
struct AttentionForm : ParamsOf<AttentionForm>, AttentionLayout {
    size_t firstStep() const noexcept { return 3; }
    size_t sinksInput() const noexcept { return firstStep() + steps.size(); }
};

}  // namespace mnnc
