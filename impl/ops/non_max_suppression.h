// Non-maximum suppression, used by the shape rule (which counts) and by executions (which write).
#pragma once
#include <cstdint>
#include <limits>

#include "ops/params.h"

namespace mnnc {

// Dense form: boxes [boxes, 4], scores [boxes] -> [hits]. Batched form (ONNX): boxes [batch, boxes, 4],
// scores [batch, classes, boxes] -> rows (batch, class, box).
struct NmsParams : ParamsOf<NmsParams> {
    int64_t batch = 1, classes = 1, boxes = 0;
    bool batched = false;
};

struct NmsLimits {
    int64_t maxOutput = 0;
    float iou = 0;
    float score = std::numeric_limits<float>::lowest();
};

// Selects greedily by descending score, of equal scores the lower number first; `work` holds `boxes` numbers, `selected` min(boxes, maxOutput).
// Allocates nothing. Returns the number selected.
int64_t nonMaxSuppression(const float* boxes, const float* scores, int64_t count, const NmsLimits& limits,
                          int32_t* work, int32_t* selected) noexcept;

}  // namespace mnnc
