// The selection of a StridedSlice, computed from its index inputs: the shape rule and the copy use the same plan.
#pragma once
#include <array>
#include <optional>
#include <span>

#include "ops/op_def.h"
#include "tensor/region_builder.h"

namespace mnnc {

struct StridedSliceParams : ParamsOf<StridedSliceParams> {
    uint32_t beginMask = 0, endMask = 0, ellipsisMask = 0, newAxisMask = 0, shrinkAxisMask = 0;
    bool onnx = false;  // fromType 1: starts, ends, axes, steps
    // Returns whether the operator writes: the first input is the data, the last of five is the value to write.
    bool writes(size_t inputs) const { return !onnx && inputs == 5; }
};

// The index inputs; those after the ends may be missing.
struct StridedSliceIndices {
    std::span<const int32_t> begins, ends;
    std::optional<std::span<const int32_t>> axes, steps;
};

// Reads the index inputs of an operator with this many inputs; list(i) returns the numbers of input i.
template <typename List>
StridedSliceIndices stridedSliceIndices(const StridedSliceParams& params, size_t inputs, List&& list) {
    const size_t end = params.writes(inputs) ? 4 : inputs, steps = params.onnx ? 4 : 3;
    StridedSliceIndices indices{list(1), list(2), {}, {}};
    if (params.onnx && end > 3) indices.axes = list(3);
    if (end > steps) indices.steps = list(steps);
    return indices;
}

struct StridedSlicePlan {
    struct Axis {           // one per input axis, in order
        int64_t begin = 0;  // the first selected element; may lie outside if none is selected
        int64_t step = 1;
        int64_t size = 0;  // extent of the output axis
    };
    std::array<Axis, kMaxRank> axis;
    int rank = 0;  // of the input
    Shape shape;   // of the output: without the removed axes, with new axes of extent 1
    std::span<const Axis> axes() const { return {axis.data(), static_cast<size_t>(rank)}; }
};

// Does not allocate. `name` is the operator's, for error sentences.
StridedSlicePlan planStridedSlice(const char* name, const StridedSliceParams& params, const Shape& in,
                                  const StridedSliceIndices& indices);
StridedSlicePlan planStridedSlice(const ShapeContext& context);

}  // namespace mnnc
