// Parameters of ElementwiseChain: float operators that are computed together, element by element.
#pragma once
#include <vector>

#include "base/op_type.h"
#include "ops/params.h"

namespace mnnc {

// One operator of one or two operands. Values are numbered: the command's inputs, then the steps' results.
struct ChainStep {
    OpType type = OpType::UnaryOp;  // UnaryOp, BinaryOp or an activation
    ParamsPtr params;               // of that operator
    std::vector<size_t> operands;   // values: of the outputs' shape, or one number for all elements
};

struct ElementwiseChainParams : ParamsOf<ElementwiseChainParams> {
    std::vector<ChainStep> steps;  // in an order in which they can run
    std::vector<size_t> results;   // for each output the step that makes it, ascending
};

}  // namespace mnnc
