// Attention that a net wrote with single operators, as the arguments of the kernel that computes it at once.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "backends/cpu/kernels/attention.h"
#include "plan/graph.h"

namespace mnnc::cpu {

struct AttentionForm {
    AttentionArgs args;  // of floats
    int q = 0, k = 0, v = 0;
    std::vector<int> steps;  // the operand of each
};

// Which commands are attention, in the order in which they run, and what they compute. q, k, v and the steps' operands
// are positions in the list of inputs that fusedInputs() returns for them.
struct FoundAttention {
    std::vector<CommandGraph::Id> members;
    AttentionForm form;
};

// The attention that begins with this product of queries and keys: factors, sums with masks and Selects, each of which
// reads the result of the one before, Softmax over the keys, the product with the values. Scores and the result may be the
// transposition of what the kernel computes, with keys in rows. Among the members are Rasters that the operands can be
// read through and the result written through, and factors of queries and keys. Nothing where the kernel computes
// something else, or cannot reach an operand. `mayTake`: whether a command may be a member.
std::optional<FoundAttention> findAttention(const CommandGraph& graph, CommandGraph::Id product,
                                            const std::function<bool(CommandGraph::Id)>& mayTake);

}  // namespace mnnc::cpu
