// Parameters of GroupNorm.
#pragma once
#include <vector>

#include "ir/params.h"

namespace mnnc {

// y = gamma[c] (x - mean) / sqrt(var + epsilon) + beta[c], with mean and variance of each group of channels; then, with
// `silu`, y / (1 + e^-y).
struct GroupNormParams : ParamsOf<GroupNormParams> {
    int groups = 1;
    float epsilon = 0;
    bool silu = false;
    std::vector<float> gamma, beta;  // equal sizes; both empty: no affine part
};

}  // namespace mnnc
