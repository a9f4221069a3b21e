// Types that the kernels and the plans of convolutions share: the shape, and the operations that follow the sums.
#pragma once
#include <limits>

#include "ir/epilogue.h"

namespace mnnc {

struct ConvShape {
    int batch = 1;
    int ic = 0, ih = 0, iw = 0;
    int oc = 0, oh = 0, ow = 0;
    int kh = 1, kw = 1;
    int strideH = 1, strideW = 1;
    int dilateH = 1, dilateW = 1;
    int padTop = 0, padLeft = 0;  // bottom and right follow from oh, ow
};

// out = clamp(act(sum + bias + residual), lo, hi)
struct PostOps {
    // In a matrix product it has one float per column, or is null. In a convolution it comes from paddedBias() and is
    // never null.
    const float* bias = nullptr;
    float lo = -std::numeric_limits<float>::infinity();
    float hi = std::numeric_limits<float>::infinity();
    const float* residual = nullptr;  // laid out like the output; see ConvPlan::addsInPlace()
    Act act = Act::None;
};

}  // namespace mnnc
