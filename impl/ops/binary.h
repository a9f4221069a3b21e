// Parameters of BinaryOp and Eltwise.
#pragma once
#include <vector>

#include "ops/params.h"

namespace mnnc {

struct BinaryParams : Params {
    int code = 0;       // BinaryOp.opType
    bool relu = false;  // clamp the result at 0 from below
};

// Lowered to a chain of BinaryOp commands.
struct EltwiseParams : Params {
    int code = 0;  // as a BinaryOp code
    std::vector<float> coeff;
};

}  // namespace mnnc
