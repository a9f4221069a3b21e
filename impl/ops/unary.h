// Parameters of UnaryOp; Sigmoid, TanH and the legacy unary types are parsed into the same struct.
#pragma once
#include "ops/params.h"

namespace mnnc {

struct UnaryParams : Params {
    int code = 0;  // UnaryOp.opType, 0..34
};

}  // namespace mnnc
