// Pooling over one channel block of the packed layout: [depth][height][width][P], one vector per position. Every output
// is summed in one fixed order for any number of threads; long rows of a window are summed in blocks.
#pragma once
#include <cstdint>

#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// The taps [first, last) of a window that lie inside the plane.
struct PoolSpan {
    int first, last;
};

// One row of outputs.
struct PoolRow {
    const float* src;  // the channel block
    float* dst;        // outputs x P
    int32_t* index;    // max only: null, or the place of the maximum in the plane, outputs x P
    int height, width;
    PoolSpan depthTaps, heightTaps;
    const PoolSpan* widthTaps;   // one per output; never empty for max
    int64_t rowCount;            // average: the divisor in depth times height, not negative
    const int64_t* widthCounts;  // average: the divisor in width, one per output, not negative
    int outputs;
};

struct PoolKernels {
    int lanes;
    void (*maximum)(const PoolRow& row);
    void (*maximumIndex)(const PoolRow& row);
    void (*average)(const PoolRow& row);
};

const PoolKernels& poolKernels(Isa isa);

}  // namespace mnnc
