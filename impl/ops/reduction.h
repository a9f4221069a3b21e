// Parameters of Reduction.
#pragma once
#include <vector>

#include "ir/params.h"

namespace mnnc {

enum class Reduce : int { Sum = 0, AbsSum = 1, SquareSum = 2, Mean = 3, Max = 4, Min = 5, Prod = 6, Any = 7, All = 8 };

// As parsed: `axes` may be negative or empty (then input 1 or "all" determines them). In a command the axes are final:
// ascending, unique, in range, and input 0 is the only input.
struct ReductionParams : ParamsOf<ReductionParams> {
    Reduce operation = Reduce::Sum;
    std::vector<int> axes;
    bool keepDims = false;
    bool emptyIsAll = true;  // no axes in input 1 mean all of them; in TensorFlow's files they mean none
};

}  // namespace mnnc
