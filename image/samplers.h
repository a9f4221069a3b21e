// Values of a picture at places between its pixels, as bytes.
#pragma once
#include "picture.h"
#include "places.h"

namespace mnnc::image {

struct Sampling {
    int32_t filter = MNN_IMAGE_NEAREST, wrap = MNN_IMAGE_CLAMP;
    uint8_t padding = 0;
};

// Writes `count` pixels (below or equal to kTile) of row y of the result, from column x on, to `to`, in the format of
// the picture; for YUV formats as RGB.
void sampleTile(const Picture& picture, const Sampling& sampling, const Matrix& matrix, int64_t x, int64_t y, int count,
                uint8_t* to);

}  // namespace mnnc::image
