// The 2-D convolutions that compute the output slices of a 3-D convolution.
#pragma once
#include "backends/cpu/kernels/conv/conv.h"
#include "ir/command.h"
#include "ops/convolution3d.h"

namespace mnnc::cpu {

// The slices that one run of a plan computes: one below the other, with rows of zeros between.
struct SliceStack {
    int64_t slices = 1;
    int64_t pitch = 0, outPitch = 0;  // rows from one slice to the next, of the input and of the output

    // The rows of all slices. In the output they include the results of the rows of zeros.
    int64_t inRows(const Conv3dWindow& w) const { return (slices - 1) * pitch + w.in[1]; }
    int64_t outRows(const Conv3dWindow& w) const { return (slices - 1) * outPitch + w.out[1]; }
};

// Returns whether depth and plane are one image whose height is the depth: only the depth has windows. Strided windows
// over large planes would leave the cache, so these are no such image.
bool isFlatVolume(const Conv3dParams& params, const Conv3dWindow& window);
ConvShape flatShape(const Conv3dParams& params, const Conv3dWindow& window);

// Chooses the number of slices with the fewest cycles per slice.
SliceStack chooseStack(const Kernels& kernels, const Conv3dParams& params, const Conv3dWindow& window,
                       const ConvOptions& options, const char* name);
ConvShape stackShape(const Conv3dParams& params, const Conv3dWindow& window, const SliceStack& stack, int64_t taps,
                     const char* name);

// Returns the epilogue, or the clamp that the operator has itself; without a bias.
PostOps volumePostOps(const Command& command);

}  // namespace mnnc::cpu
