// Parameters of LRN, local response normalisation.
#pragma once
#include "ir/params.h"

namespace mnnc {

struct LrnParams : ParamsOf<LrnParams> {  // y = x (bias + alpha M)^-beta, M = mean of x^2 over the window
    bool withinChannel = false;
    int localSize = 1;
    float alpha = 0, beta = 0, bias = 1;
};

}  // namespace mnnc
