// Parameters of the activations that are operators of their own.
#pragma once
#include <vector>

#include "ops/params.h"

namespace mnnc {

struct ReluParams : Params {  // ReLU: x < 0 ? slope x : x
    float slope = 0;
};
struct ClipParams : Params {  // ReLU6: min(max(x, lo), hi)
    float lo = 0, hi = 6;
};
struct PReluParams : Params {  // one slope, or one per channel
    std::vector<float> slopes;
};
struct EluParams : Params {  // ELU, Selu: scale * (x > 0 ? x : alpha (e^x - 1)); Threshold: x > alpha
    float alpha = 1, scale = 1;
};

}  // namespace mnnc
