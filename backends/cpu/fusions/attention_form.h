// Attention that a net wrote with single operators, as the arguments of the kernel that computes it at once.
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "backends/cpu/kernels/attention.h"
#include "ops/command.h"

namespace mnnc::cpu {

// An input that attention reads from this element on.
struct AttentionInput {
    int index = -1;  // -1: there is none
    int64_t start = 0;
};

struct AttentionForm {
    AttentionArgs args;  // without pointers, and of floats
    AttentionInput q, k, v, masks[2], keep;
    int64_t outStart = 0;  // in the result of the last command
};

// The form of commands, whose `inputs` are read, in the order in which they run: the product of queries and keys, factors, sums with masks, Select,
// Softmax, the product with the values, which each read the result of the one before; a Raster that moves the heads, which
// is the last one; Rasters that widen masks. Nothing where the kernel computes something else, or cannot reach an operand
// by its steps.
std::optional<AttentionForm> attentionForm(std::span<const Command> commands,
                                           std::span<Tensor* const> inputs);

// The mask, or condition, that this Raster made, read from the Raster's own operand; nothing where strides cannot say it.
std::optional<OperandView> viewThroughRaster(const Command& raster);

}  // namespace mnnc::cpu
