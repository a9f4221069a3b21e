// Parameters of Softmax.
#pragma once
#include "ir/params.h"

namespace mnnc {

struct SoftmaxParams : ParamsOf<SoftmaxParams> {
    int axis = 0;  // of the logical shape; negative counts from the end
};

}  // namespace mnnc
