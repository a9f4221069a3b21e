// Operators that take a fixed number of values from regions of a picture: ROIAlign, ROIPooling, CropAndResize.
#pragma once
#include "ops/op_def.h"

namespace mnnc {

struct RoiParams : ParamsOf<RoiParams> {
    int height = 1, width = 1;  // outputs of a region
    float scale = 1;            // from the coordinates of regions to those of the picture
    // ROIAlign only.
    int samples = 0;       // along each axis of an output; 0: as many as the pixels that it covers
    bool aligned = false;  // pixels are centred at half coordinates
    bool maximum = false;  // otherwise the average of the samples
};

struct CropParams : ParamsOf<CropParams> {
    bool nearest = false;  // otherwise linear
    float outside = 0;     // the value of samples outside of the picture
};

}  // namespace mnnc
