// Parameters of operators that produce values.
#pragma once
#include "ir/params.h"
#include "tensor/data_type.h"

namespace mnnc {

// The OneHot command has resolved extents like AxisParams: [outer][depth][inner].
struct OneHotParams : ParamsOf<OneHotParams> {
    int64_t outer = 1, depth = 1, inner = 1;
    bool fromEnd = false;  // negative indices count from the end; otherwise they select nothing
};

struct RandomParams : ParamsOf<RandomParams> {
    bool seeded = false;  // has a seed other than 0; the generator is mt19937(1) for all such seeds
    DataType type = DataType::Float32;
    float low = 0, high = 1;  // or mean and deviation
};

}  // namespace mnnc
