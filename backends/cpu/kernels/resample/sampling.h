// Sampling of pictures and volumes at arbitrary positions: the places of the values, and their weighted sums. Positions
// are found once for all channels. Packed tensors are summed with vectors along the channels of a block, planes of
// row-major ones with vectors along the outputs.
#pragma once
#include <cstdint>

#include "backends/cpu/kernels/kernels.h"

namespace mnnc {

// The rule by which the coordinates of a grid become positions along axis 0 (x), 1 (y) and 2 (z).
struct GridPlan {
    enum class Padding : uint8_t { Zeros, Border, Reflection };
    int axes = 2;
    bool nearest = false, alignCorners = false;
    Padding padding = Padding::Zeros;
    int32_t extent[3] = {1, 1, 1};
};

constexpr int kGridOutputs = 64;  // outputs whose taps are made together
constexpr int kGridTaps = 8;      // trilinear

// The taps of up to kGridOutputs outputs: 1, 4 or 8 of them, by tap and output.
struct GridTaps {
    int32_t index[kGridTaps][kGridOutputs];  // position in the plane; -1: outside, where the value is 0
    float weight[kGridTaps][kGridOutputs];
};

// For each block of channels b of one output: dst[b] = initial + sum of weight * src[b][index], or the maximum of all.
struct TapSum {
    const float* src;
    int64_t srcBlock;  // floats from one block of channels to the next
    float* dst;
    int64_t dstBlock;
    int64_t blocks;
    const int32_t* index;
    const float* weight;
    int taps;
    bool first;  // otherwise dst holds the result of earlier taps, which replaces `initial`
    float initial;
};

// dst[b] = maximum of src[b] over rows [top, bottom) and columns [left, right), which are not empty.
struct BoxMaximum {
    const float* src;
    int64_t srcBlock;
    float* dst;
    int64_t dstBlock;
    int64_t blocks;
    int64_t width;  // of the picture
    int64_t top, bottom, left, right;
};

struct SamplingKernels {
    int lanes;
    // grid: `outputs` coordinates (x, y) or (x, y, z). A NaN counts as -1, as in PyTorch and ONNX Runtime.
    void (*gridTaps)(const GridPlan& plan, const float* grid, int outputs, GridTaps& taps);
    // Samples one block of channels: dst holds `outputs` vectors.
    void (*samplePacked)(const float* src, const GridTaps& taps, int tapCount, int outputs, float* dst);
    // Samples one channel of a row-major tensor.
    void (*samplePlane)(const float* src, const GridTaps& taps, int tapCount, int outputs, float* dst);
    void (*tapSum)(const TapSum& sum);
    void (*tapMaximum)(const TapSum& sum);
    void (*boxMaximum)(const BoxMaximum& box);
};

const SamplingKernels& samplingKernels(Isa isa);

}  // namespace mnnc
