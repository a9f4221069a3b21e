// Operators that have to search to know how many results there are. A schedule makes two operators of such a one, so
// that the search is of the stage that has its inputs, on any backend, and the plan of the operators behind depends on
// the number of results alone.
#pragma once
#include "ops/op_def.h"

namespace mnnc {

struct SearchParts {
    // Its inputs are the operator's. Output 0 has the results, with room for the most that there can be, output 1 how
    // many there are.
    OpDef search;
    // Its inputs are these two tensors, its output is the operator's.
    OpDef results;
};

// Null of all other operators.
const SearchParts* findSearchParts(OpType type) noexcept;

// Of a static model, whose shapes do not depend on what a search finds: writes results to the front of `output`, which
// has room for more rows. In rows without a result the last number is -1 and the others are 0, as in the official
// runtime.
void fillRoom(GeometryContext& geometry, Tensor* output, Tensor* results, const std::string& name);

}  // namespace mnnc
