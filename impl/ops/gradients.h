// Parameters of PoolGrad.
#pragma once
#include "ops/pooling.h"

namespace mnnc {

struct PoolGradParams : ParamsOf<PoolGradParams> {
    bool average = false;
    int64_t planes = 0;  // of all images
    PoolAxis rows, columns;
};

}  // namespace mnnc
