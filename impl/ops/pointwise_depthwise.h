// Parameters of PointwiseDepthwise: a 1x1 convolution and the depthwise one that alone reads its output.
#pragma once
#include "ops/command.h"

namespace mnnc {

struct PointwiseDepthwiseParams : ParamsOf<PointwiseDepthwiseParams> {
    Command pointwise, depthwise;  // as they were; what lies between has a shape and no memory
};

}  // namespace mnnc
