// GridSample: samples a picture or a volume at the positions in a grid.
#pragma once
#include "ops/op_def.h"

namespace mnnc {

enum class GridPadding : uint8_t { Zeros = 0, Border = 1, Reflection = 2 };

struct GridSampleParams : ParamsOf<GridSampleParams> {
    bool nearest = false;  // otherwise linear along every axis
    GridPadding padding = GridPadding::Zeros;
    bool alignCorners = false;
};

}  // namespace mnnc
