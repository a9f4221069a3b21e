// Parameters of the activations that are separate operators.
#pragma once
#include <vector>

#include "ir/params.h"

namespace mnnc {

struct ReluParams : ParamsOf<ReluParams> {  // ReLU: x < 0 ? slope x : x
    float slope = 0;
};
struct ClipParams : ParamsOf<ClipParams> {  // ReLU6: min(max(x, lo), hi)
    float lo = 0, hi = 6;
};
struct PReluParams : ParamsOf<PReluParams> {  // one slope, or one per channel
    std::vector<float> slopes;
};
struct EluParams : ParamsOf<EluParams> {  // ELU, Selu: scale * (x > 0 ? x : alpha (e^x - 1)); Threshold: x > alpha
    float alpha = 1, scale = 1;
};

}  // namespace mnnc
