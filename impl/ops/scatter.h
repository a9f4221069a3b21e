// Parameters of scatter commands. ScatterNd: inputs indices, updates[, data]. ScatterElements: data, indices,
// updates, with ScatterElementsParams.
#pragma once
#include "ops/gather.h"

namespace mnnc {

// The way in which updates are combined with the present values.
enum class Scatter : int { Replace, Add, Sub, Mul, Min, Max };

struct ScatterNdParams : ParamsOf<ScatterNdParams> {
    int64_t rows = 0, slice = 0;
    Scatter reduction = Scatter::Replace;
    IndexBounds bounds;
    int64_t stride[kMaxRank] = {};
};

struct ScatterElementsParams : ParamsOf<ScatterElementsParams> {
    int axis = 0;
    Scatter reduction = Scatter::Replace;
};

}  // namespace mnnc
