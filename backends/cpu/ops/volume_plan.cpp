// Chooses the 2-D convolutions for the slices of a 3-D convolution.
#include "backends/cpu/ops/volume_plan.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/ops/conv_shape.h"
#include "base/checked.h"
#include "base/error.h"

namespace mnnc::cpu {

bool isFlatVolume(const Conv3dParams& p, const Conv3dWindow& w) {
    constexpr int64_t kMaxPixels = 256;
    for (size_t i = 1; i < 3; ++i)
        if (p.kernel[i] != 1 || p.stride[i] != 1 || w.begin[i] != 0 || w.out[i] != w.in[i]) return false;
    const bool point = p.kernel[0] == 1 && p.stride[0] == 1 && w.begin[0] == 0 && w.out[0] == w.in[0];
    // Winograd's algorithm along the depth takes such windows, from planes of any size.
    const bool dense = p.stride[0] == 1 && p.dilate[0] == 1 && p.kernel[0] % 2 == 1 && p.kernel[0] <= 7;
    const int64_t area = w.in[1] * w.in[2];
    return area <= (point || dense ? int64_t{std::numeric_limits<int>::max()} : kMaxPixels);
}

ConvShape flatShape(const Conv3dParams& p, const Conv3dWindow& w) {
    ConvShape s;
    s.batch = toInt(w.batch), s.ic = toInt(w.ic), s.oc = toInt(w.oc);
    s.ih = toInt(w.in[0]), s.iw = toInt(w.in[1] * w.in[2]);
    s.oh = toInt(w.out[0]), s.ow = toInt(w.out[1] * w.out[2]);
    s.kh = p.kernel[0], s.strideH = p.stride[0], s.dilateH = p.dilate[0];
    s.padTop = toInt(w.begin[0]);
    return s;
}

SliceStack chooseStack(const Kernels& kernels, const Conv3dParams& p, const Conv3dWindow& w, const ConvOptions& options,
                       const char* name) {
    const int64_t stride = p.stride[1];
    const int64_t reach = (w.out[1] - 1) * stride - w.begin[1] + int64_t{p.kernel[1] - 1} * p.dilate[1] + 1;
    const int64_t apart = std::max({w.in[1] + std::max<int64_t>(w.begin[1], 0), reach, w.out[1] * stride});
    SliceStack stack;
    stack.outPitch = ceilDiv(apart, stride);
    stack.pitch = stack.outPitch * stride;
    constexpr int64_t kMaxRows = 128;
    double minCycles = 0;
    int64_t best = 1;
    for (stack.slices = 1; stack.slices <= w.out[0] && (stack.slices == 1 || stack.outRows(w) <= kMaxRows);
         stack.slices *= 2) {
        const ConvShape shape = stackShape(p, w, stack, p.kernel[0], name);
        for (const ConvCandidate& candidate : convCandidates(kernels, shape, options)) {
            const double runs = static_cast<double>(ceilDiv(w.out[0], stack.slices));
            if (!candidate.chosen || (stack.slices > 1 && candidate.cycles * runs >= minCycles)) continue;
            minCycles = candidate.cycles * runs;
            best = stack.slices;
        }
    }
    stack.slices = best;
    return stack;
}

ConvShape stackShape(const Conv3dParams& p, const Conv3dWindow& w, const SliceStack& stack, int64_t taps,
                     const char* name) {
    const int64_t channels = checkedMul(taps, w.ic, name);
    if (channels > std::numeric_limits<int>::max() / 2)
        fail(Status::Overflow, "%s has %lld taps of %lld channels, at most %d in all are possible", name, asLong(taps),
             asLong(w.ic), std::numeric_limits<int>::max() / 2);
    ConvShape s;
    s.batch = 1, s.ic = toInt(channels), s.oc = toInt(w.oc);
    s.ih = toInt(stack.inRows(w)), s.iw = toInt(w.in[2]);
    s.oh = toInt(stack.outRows(w)), s.ow = toInt(w.out[2]);
    s.kh = p.kernel[1], s.kw = p.kernel[2];
    s.strideH = p.stride[1], s.strideW = p.stride[2];
    s.dilateH = p.dilate[1], s.dilateW = p.dilate[2];
    s.padTop = toInt(w.begin[1]), s.padLeft = toInt(w.begin[2]);
    return s;
}

PostOps volumePostOps(const Command& command) {
    const auto& p = command.paramsAs<Conv3dParams>();
    PostOps post;
    post.act = command.epilogue.act;
    post.lo = command.epilogue.lo;
    post.hi = command.epilogue.hi;
    if (p.relu6) {
        post.lo = 0;
        post.hi = 6;
    } else if (p.relu) {
        post.lo = 0;
        post.hi = std::numeric_limits<float>::max();
    }
    return post;
}

}  // namespace mnnc::cpu
