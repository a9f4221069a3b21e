// Parameters of scatter commands. ScatterNd: inputs indices, updates[, data]. ScatterElements: data, indices,
// updates, with ElementsParams of gather.h.
#pragma once
#include "ops/gather.h"

namespace mnnc {

struct ScatterNdParams : ParamsOf<ScatterNdParams> {
    int64_t rows = 0, slice = 0;
    int reduction = -1;
    IndexBounds bounds;
    int64_t stride[kMaxRank] = {};
};

}  // namespace mnnc
