// Parameters of gather commands, resolved: executions need no look at axes.
#pragma once
#include <cstdint>

#include "ops/params.h"

namespace mnnc {

// GatherV2: inputs data [outer][extent][inner] and indices; output [outer][count][inner].
struct GatherParams : Params {
    int64_t outer = 1, extent = 1, inner = 1, count = 1;
};

// GatherND: rows of `depth` indices, each copies `slice` elements; index j counts in steps of stride[j].
struct GatherNdParams : Params {
    int64_t rows = 0, slice = 0, total = 0;  // total: elements of the data
    int depth = 0;
    bool checkEach = true;  // batched rows carry their batch in the last index: only the sum can be checked
    int64_t extent[9] = {}, stride[9] = {};
};

// GatherElements and ScatterElements: the axis the indices replace.
struct ElementsParams : Params {
    int axis = 0;
    int reduction =
        -1;  // ScatterElements, ScatterNd: -1 replace, 0 add, 1 subtract, 2 multiply, other: write nothing
};

}  // namespace mnnc
