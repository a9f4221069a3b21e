// Parameters of Dilation2D (greyscale dilation) for its execution.
#pragma once
#include <vector>

#include "ops/op_def.h"

namespace mnnc {

// y[n, c, oy, ox] = max over the taps inside of the plane of x[n, c, oy sy + ky dy - pt, ...] + weights[c, ky, kx]
struct Dilation2dParams : ParamsOf<Dilation2dParams> {
    std::vector<float> weights;  // [c][kernelY][kernelX]
    int64_t kernelY = 1, kernelX = 1;
    int64_t strideY = 1, strideX = 1;
    int64_t dilateY = 1, dilateX = 1;
    int64_t padTop = 0, padLeft = 0;
};

}  // namespace mnnc
