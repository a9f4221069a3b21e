// Parameters of UnaryOp; Sigmoid, TanH and the legacy unary types are parsed into the same struct.
#pragma once
#include "ir/params.h"

namespace mnnc {

// Numbers of UnaryOp.opType that code outside of the operator uses.
enum UnaryCode : int {
    kUnaryNeg = 1,
    kUnarySquare = 4,
    kUnarySqrt = 5,
    kUnaryRsqrt = 6,
    kUnarySigmoid = 29,
    kUnaryTanh = 30,
    kUnaryHardSwish = 31,
    kUnaryGelu = 32,
    kUnaryGeluStandard = 33,
    kUnarySilu = 34
};

struct UnaryParams : ParamsOf<UnaryParams> {
    int code = 0;  // UnaryOp.opType, 0..34
};

}  // namespace mnnc
