// Parameters of operators that make values.
#pragma once
#include "ir/params.h"
#include "tensor/data_type.h"

namespace mnnc {

// The OneHot command carries AxisParams-like numbers already resolved: [outer][depth][inner].
struct OneHotParams : ParamsOf<OneHotParams> {
    int64_t outer = 1, depth = 1, inner = 1;
    bool fromEnd = false;  // negative indices count from the end; otherwise they mean nothing
};

struct RandomParams : ParamsOf<RandomParams> {
    bool seeded = false;  // a seed other than 0: the generator is mt19937(1) for all of them
    DataType type = DataType::Float32;
    float low = 0, high = 1;  // or mean and deviation
};

}  // namespace mnnc
