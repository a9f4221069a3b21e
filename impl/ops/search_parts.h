// Operators that have to search to determine the number of their results. A schedule makes two operators of such an
// operator: the search belongs to the stage that has its inputs, on any backend, and the plan of the operators after it
// depends only on the number of results.
#pragma once
#include "ops/op_def.h"

namespace mnnc {

struct SearchParts {
    // Its inputs are the operator's. Output 0 has the results, with room for the largest possible number; output 1 has
    // their number.
    OpDef search;
    // Its inputs are these two tensors, its output is the operator's.
    OpDef results;
};

// Returns null for all other operators.
const SearchParts* findSearchParts(OpType type) noexcept;

// For static models, whose shapes do not depend on the search: writes the results to the front of `output`, which has
// room for more rows. In rows without a result the last number is -1 and the others are 0, as in the official runtime.
void fillRoom(GeometryContext& geometry, Tensor* output, Tensor* results, const std::string& name);

}  // namespace mnnc
