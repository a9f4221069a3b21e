// The weights that a file stores in its nodes, as floats.
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

// The weights [outputs][inputs of a group][window...] of a convolution ([inputs][outputs of a group] of a
// deconvolution) and its bias [outputs]; the weights [outputs][inputs] of an inner product and its bias; empty for
// other operators, and where weights are inputs. inputs: with their shapes. Throws BadWeights, and what reading a file
// throws.
std::vector<NodeWeights> nodeWeights(OpType type, const ParamsPtr& params, std::span<Tensor* const> inputs,
                                     const char* node);

}  // namespace mnnc
