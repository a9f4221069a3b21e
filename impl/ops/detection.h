// Parameters of the detection operators for their executions.
#pragma once
#include <cstdint>
#include <vector>

#include "ir/params.h"

namespace mnnc {

struct PostProcessParams : ParamsOf<PostProcessParams> {
    int64_t maxDetections = 0, classesPerBox = 0, perClass = 0, classes = 0;
    float score = 0, overlap = 0;
    bool regular = false;             // suppression within each class, instead of by the best class of each box
    float scale[4] = {10, 10, 5, 5};  // for y, x, height and width
};

struct PriorBoxParams : ParamsOf<PriorBoxParams> {
    std::vector<float> minSizes, maxSizes;
    std::vector<float> ratios;  // 1 first
    float variances[4] = {0.1f, 0.1f, 0.1f, 0.1f};
    float offset = 0;
    int imageWidth = 0, imageHeight = 0, stepWidth = 0, stepHeight = 0;  // 0: taken from the inputs
    bool clip = false;
};

struct ProposalParams : ParamsOf<ProposalParams> {
    float stride = 0, minSize = 0, overlap = 0;
    int64_t beforeSuppression = 0, afterSuppression = 0;  // 0: all
    // Width and height of each anchor; all are centred in a cell of the base size.
    std::vector<float> sizes;
    float centre = 0;
    int64_t anchors() const { return static_cast<int64_t>(sizes.size() / 2); }
};

}  // namespace mnnc
