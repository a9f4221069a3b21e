// Parameters of Scale, BatchNorm and InstanceNorm.
#pragma once
#include <vector>

#include "ir/params.h"

namespace mnnc {

// Scale, and BatchNorm folded into it: y = x scale[c] + bias[c].
struct ScaleParams : ParamsOf<ScaleParams> {
    std::vector<float> scale, bias;  // equal sizes
};

// y = scale[c] (x - mean) / sqrt(var + epsilon) + bias[c], with mean and variance of each (n, c) plane, or from inputs
// 1 and 2.
struct InstanceNormParams : ParamsOf<InstanceNormParams> {
    std::vector<float> scale, bias;
    float epsilon = 0;
};

}  // namespace mnnc
