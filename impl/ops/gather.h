// Resolved parameters of gather commands: executions do not handle axes.
#pragma once
#include <cstdint>

#include "ir/params.h"
#include "ops/index_bounds.h"

namespace mnnc {

// GatherV2: inputs data [outer][extent][inner] and indices; output [outer][count][inner]. indicesChecked, here and
// below: all indices were known while planning, and none is outside.
struct GatherParams : ParamsOf<GatherParams> {
    int64_t outer = 1, extent = 1, inner = 1, count = 1;
    bool indicesChecked = false;
};

// GatherND: rows of `depth` indices, each row copies `slice` elements; index j counts in steps of stride[j].
struct GatherNdParams : ParamsOf<GatherNdParams> {
    int64_t rows = 0, slice = 0;
    IndexBounds bounds;
    int64_t stride[kMaxRank] = {};
    bool indicesChecked = false;
};

// GatherElements: the axis whose coordinate the indices replace.
struct ElementsParams : ParamsOf<ElementsParams> {
    int axis = 0;
    bool indicesChecked = false;
};

}  // namespace mnnc
