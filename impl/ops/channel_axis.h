// Finds the channel axis for operators with one value per channel: PReLU, Scale, InstanceNorm, Normalize.
#pragma once
#include "ops/op_def.h"

namespace mnnc {

// Returns 1, or the last axis for an NHWC tensor; -1 when the rank is too small.
inline int channelAxis(const Tensor& tensor) noexcept {
    const int rank = tensor.shape.rank();
    return rank < 2 ? -1 : tensor.format == Format::NHWC ? rank - 1 : 1;
}

// Throws ComputeSizeError unless input 0 has `count` channels.
inline void checkChannels(const ShapeContext& context, int64_t count, const char* what) {
    const Tensor& input = context.in(0);
    const int axis = channelAxis(input);
    if (axis < 0 || input.shape[axis] != count)
        fail(Status::ComputeSizeError, "op '%s': %s has %lld channel values, which do not fit the %s input %s",
             context.name(), what, static_cast<long long>(count), formatName(input.format), input.shape.text().c_str());
}

}  // namespace mnnc
