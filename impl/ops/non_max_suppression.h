// Non-maximum suppression. Only the search for the boxes to keep knows how many there are, so the operator runs as two
// commands (ops/search_parts.h): the first finds them, the second makes the output, which has their number by then.
#pragma once
#include <cstdint>
#include <limits>

#include "ir/params.h"

namespace mnnc {

// The search. Inputs: those of the operator. Outputs: the boxes that are kept [batch * classes * most], by picture,
// class and falling score, and -1 behind the last; how many each class of each picture keeps [batch, classes], or [1]
// in the dense form. The second command has these as inputs, and no parameters.
struct NmsParams : ParamsOf<NmsParams> {
    // Dense form: boxes [boxes, 4], scores [boxes] -> [hits]. Batched form (ONNX): boxes [batch, boxes, 4],
    // scores [batch, classes, boxes] -> rows (picture, class, box).
    int64_t batch = 1, classes = 1, boxes = 0;
    int64_t most = 0;  // boxes that a class of a picture keeps at most
    bool batched = false;
};

struct NmsLimits {
    int64_t most = 0;
    float iou = 0;
    float score = std::numeric_limits<float>::lowest();
};

// Selects greedily by descending score, of equal scores the lower number first; `work` holds `boxes` numbers,
// `selected` min(boxes, most). Allocates nothing. Returns the number selected.
int64_t nonMaxSuppression(const float* boxes, const float* scores, int64_t count, const NmsLimits& limits,
                          int32_t* work, int32_t* selected) noexcept;

}  // namespace mnnc
