// Parameters of the conversions between float and int8, and of sums of int8 tensors.
#pragma once
#include <vector>

#include "ir/params.h"

namespace mnnc {

// FloatToInt8: q = clip(round(x * scale + zero), min, max). Int8ToFloat: x = (q - zero) * scale, where q is 128 less
// than an unsigned code. One value, or one per channel. A command without parameters uses the int8 tensor's own scale.
struct QuantCastParams : ParamsOf<QuantCastParams> {
    std::vector<float> scale, zero;
    float min = -128, max = 127;
};

// EltwiseInt8: y = clip((a * scale[0] + b * scale[1]) * scale[2]), truncated. Each scale is one value, or one per
// channel.
struct EltwiseInt8Params : ParamsOf<EltwiseInt8Params> {
    std::vector<float> scale[3];
};

}  // namespace mnnc
