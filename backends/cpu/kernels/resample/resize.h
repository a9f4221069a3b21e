// Resizing over the packed layout: one row of outputs from weighted rows of inputs, one vector per position. The taps
// of every output position are tables made beforehand, so one kernel serves all modes.
#pragma once
#include <cstdint>

#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

struct ResizeRow {
    const float* const* rows;  // input rows, width x P each
    const float* rowWeights;
    int rowCount;          // 1 to 16
    const int32_t* index;  // outputs x taps: positions in a row
    const float* weight;   // outputs x taps
    int outputs;
    float* dst;  // outputs x P
};

struct ResizeKernels {
    int lanes;
    void (*nearest)(const ResizeRow& row);  // copies from rows[0], one tap
    void (*linear)(const ResizeRow& row);   // two taps per row
    void (*cubic)(const ResizeRow& row);    // four taps per row
};

const ResizeKernels& resizeKernels(Isa isa);

}  // namespace mnnc
