// The 2-D convolutions that the output slices of a 3-D convolution are.
#pragma once
#include "backends/cpu/kernels/conv/conv.h"
#include "ir/command.h"
#include "ops/convolution3d.h"

namespace mnnc::cpu {

// Slices that one run of a plan makes: one below the other, with rows of zeros between.
struct SliceStack {
    int64_t slices = 1;
    int64_t pitch = 0, outPitch = 0;  // rows from one to the next, of the input and of the output

    // Rows of all, of the output with what the rows of zeros give.
    int64_t inRows(const Conv3dWindow& w) const { return (slices - 1) * pitch + w.in[1]; }
    int64_t outRows(const Conv3dWindow& w) const { return (slices - 1) * outPitch + w.out[1]; }
};

// Depth and plane are one image where only the depth has windows: depth is the image's height. Windows over long
// rows would leave the cache.
bool isFlatVolume(const Conv3dParams& params, const Conv3dWindow& window);
ConvShape flatShape(const Conv3dParams& params, const Conv3dWindow& window);

// As many slices as cost the fewest cycles each.
SliceStack chooseStack(const Kernels& kernels, const Conv3dParams& params, const Conv3dWindow& window,
                       const ConvOptions& options, const char* name);
ConvShape stackShape(const Conv3dParams& params, const Conv3dWindow& window, const SliceStack& stack, int64_t taps,
                     const char* name);

// The epilogue, behind the clamp of the file's own; without a bias.
PostOps volumePostOps(const Command& command);

}  // namespace mnnc::cpu
