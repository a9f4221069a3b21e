// Parameters of Softmax.
#pragma once
#include "ops/params.h"

namespace mnnc {

struct SoftmaxParams : Params {
    int axis = 0;  // of the logical shape; negative counts from the end
};

}  // namespace mnnc
