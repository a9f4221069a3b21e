// The attributes of convolutions and poolings: windows over the spatial axes, with the padding that results from
// `auto_pad`.
#pragma once
#include <vector>

#include "helpers.h"

namespace mnnc::onnx {

struct Windows {
    size_t axes = 0;  // spatial axes
    std::vector<int64_t> kernel, strides, dilations;
    std::vector<int64_t> begin, end;  // padding
    bool ceil = false;
    // The padding of SAME_UPPER depends on free extents, and the operators compute it: begin and end are zero.
    bool same = false;

    // The extent that a dilated window covers.
    int64_t reach(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
    bool dilated() const;
    bool symmetric() const { return begin == end; }
    bool padded() const;
    // The extent of the result, as ONNX defines it.
    int64_t outExtent(size_t i, int64_t in) const;
};

// The attribute `name` with `count` numbers from `lowest` to 2^30; where it is absent, a list of `otherwise`. Throws
// BadFormat and BadRange.
std::vector<int64_t> windowNumbers(Call& c, const char* name, size_t count, int64_t otherwise, int64_t lowest);

// kernel: the extents of the weights, used where the node lacks the attribute kernel_shape; empty: the node must have
// it. Throws NotSupported where SAME_LOWER depends on free extents, BadRange for numbers that define no windows.
// transposed: SAME padding is left to the caller.
Windows readWindows(Call& c, const Value& x, std::vector<int64_t> kernel, bool transposed = false);

// The extent of axis i of the result, computed from that of x: throws ComputeSizeError where there is no window. With
// Builder::lenient an extent that is possible is returned instead.
int64_t requireWindow(Call& c, const Value& x, size_t i, size_t probe, int64_t extent);

// The number in 32 bits; throws what intList() throws.
int32_t narrow(int64_t value);

}  // namespace mnnc::onnx
