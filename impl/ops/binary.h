// Parameters of BinaryOp and Eltwise.
#pragma once
#include <vector>

#include "ops/params.h"

namespace mnnc {

// Numbers of BinaryOp.opType that other code than the operator's own asks for.
enum BinaryCode : int { kBinaryAdd = 0, kBinarySub = 1, kBinaryMul = 2, kBinaryRealDiv = 7 };

struct BinaryParams : ParamsOf<BinaryParams> {
    int code = 0;       // BinaryOp.opType
    bool relu = false;  // clamp the result at 0 from below
};

// Lowered to a chain of BinaryOp commands.
struct EltwiseParams : ParamsOf<EltwiseParams> {
    int code = 0;  // as a BinaryOp code
    std::vector<float> coeff;
};

}  // namespace mnnc
