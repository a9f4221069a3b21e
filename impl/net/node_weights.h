// Weights that nodes have beside their inputs, as floats.
#pragma once
#include <span>
#include <vector>

#include "model/stored_floats.h"
#include "ops/op_def.h"

namespace mnnc {

struct NodeWeights {
    Shape shape;
    FloatView values;
};

// Of a convolution the weights [outputs][inputs of a group][window...] (of a deconvolution [inputs][outputs of a
// group]) and the bias [outputs]; of an inner product [outputs][inputs] and the bias; of others, and where weights are
// inputs, none. inputs: with their shapes. Throws BadWeights, and what reading a file throws.
std::vector<NodeWeights> nodeWeights(OpType type, const ParamsPtr& params, std::span<Tensor* const> inputs,
                                     const char* node);

}  // namespace mnnc
