// Parameters of Normalize.
#pragma once
#include <vector>

#include "ir/params.h"

namespace mnnc {

struct NormalizeParams : ParamsOf<NormalizeParams> {  // y = x scale[c] / sqrt(sum of x^2 + epsilon)
    bool acrossSpatial = false;                       // sum over c, h, w instead of c
    float epsilon = 0;
    std::vector<float> scale;
};

}  // namespace mnnc
