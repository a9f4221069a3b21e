// Indices that an operator reads from a tensor: negative ones count from the end of their axis, and one outside of the
// axis is refused with MNN_ERROR_INPUT_DATA.
#pragma once
#include <cstdint>
#include <string>

#include "tensor/shape.h"

namespace mnnc {

struct ShapeContext;

// Throws InputDataError about element `at` of an index tensor.
[[noreturn, gnu::cold]] void failIndex(const std::string& op, int64_t index, int64_t at, int64_t extent);

// Returns the place of `index`, element `at` of an index tensor, on an axis of `extent`. Throws InputDataError when it
// is outside.
inline int64_t placeOnAxis(const std::string& op, int64_t index, int64_t at, int64_t extent) {
    const int64_t place = index + (index < 0 ? extent : 0);
    if (static_cast<uint64_t>(place) >= static_cast<uint64_t>(extent)) failIndex(op, index, at, extent);
    return place;
}

// The valid range of the elements of an index tensor. The tensor has rows of `depth` indices; index j of a row counts
// along an axis of extent[j]. Converters add b * batchStep to every index of a row in batch b.
struct IndexBounds {
    int depth = 1;
    int64_t extent[kMaxRank] = {};
    int64_t rowsPerBatch = INT64_MAX, batchStep = 0;

    static IndexBounds ofAxis(int64_t extent) {
        IndexBounds bounds;
        bounds.extent[0] = extent;
        return bounds;
    }
    // Returns element `at` of the tensor without the part that converters add for its batch.
    int64_t index(int64_t value, int64_t at) const noexcept {
        return batchStep == 0 ? value : value - at / depth / rowsPerBatch * batchStep;
    }
    // Checks all elements of input `input` when they are known while planning. Returns whether they are.
    bool checkKnown(const ShapeContext& context, int input) const;
};

// Throws ComputeSizeError when indices that replace the coordinate of one axis reach beyond the data along another
// axis.
void requireOwnPositions(const ShapeContext& context, const Shape& data, const Shape& indices, int axis);

}  // namespace mnnc
