// Non-maximum suppression (https://onnx.ai/onnx/operators/onnx__NonMaxSuppression.html). Only the search determines how
// many boxes to keep, so the operator runs as two commands (ops/search_parts.h): the first one finds them, the second
// one writes the output, whose size is known by then.
#pragma once
#include <cstdint>
#include <limits>

#include "ir/params.h"

namespace mnnc {

// The search. Inputs: those of the operator. Outputs: the kept boxes [batch * classes * maxKept], ordered by picture,
// class and descending score, followed by -1; and the number of kept boxes for each class of each picture [batch,
// classes], or [1] in the dense form. The second command has these as inputs, and no parameters.
struct NmsParams : ParamsOf<NmsParams> {
    // Dense form: boxes [boxes, 4], scores [boxes] -> [hits]. Batched form (ONNX): boxes [batch, boxes, 4],
    // scores [batch, classes, boxes] -> rows (picture, class, box).
    int64_t batch = 1, classes = 1, boxes = 0;
    int64_t maxKept = 0;  // limit on the boxes kept for a class of a picture
    bool batched = false;
};

struct NmsLimits {
    int64_t maxKept = 0;
    float iou = 0;
    float score = std::numeric_limits<float>::lowest();
};

// Selects greedily by descending score, among equal scores the lower index first; `work` has room for `count` numbers,
// `selected` for min(count, maxKept). Allocates nothing. Returns the number of selected boxes.
int64_t nonMaxSuppression(const float* boxes, const float* scores, int64_t count, const NmsLimits& limits,
                          int32_t* work, int32_t* selected) noexcept;

}  // namespace mnnc
