// What a StridedSlice selects, worked out from its index inputs: the same plan gives the shape and the
// regions.
#pragma once
#include <vector>

#include "ops/op_def.h"
#include "tensor/region_builder.h"

namespace mnnc {

struct StridedSliceParams : Params {
    uint32_t beginMask = 0, endMask = 0, ellipsisMask = 0, newAxisMask = 0, shrinkAxisMask = 0;
    bool onnx = false;  // fromType 1: starts, ends, axes, steps
};

struct StridedSlicePlan {
    struct Axis {           // one per input axis, in order
        int64_t begin = 0;  // first element taken
        int64_t step = 1;
        int64_t size = 0;   // extent of the output axis
        int64_t valid = 0;  // leading part of `size` that lies inside the input; the rest is 0
        bool dropped = false;
    };
    std::vector<Axis> axes;
    Shape shape;  // of the output: axes without the dropped ones, with new axes of extent 1
};

StridedSlicePlan planStridedSlice(const ShapeContext& context);

}  // namespace mnnc
