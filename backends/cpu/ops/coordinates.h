// An odometer over the coordinates of a tensor that keeps a linear position in another tensor of equal rank, with one
// axis left out, for element-wise gathers and scatters.
#pragma once
#include "ops/index_bounds.h"

namespace mnnc::cpu {

class ElementIterator {
  public:
    // Iterates over `extents`, which are at most those of `target` except along `axis`; positions count in a tensor of
    // shape `target`, without `axis`.
    ElementIterator(const Shape& extents, const Shape& target, int axis) noexcept : extents_(extents) {
        int64_t stride = 1;
        for (int i = target.rank() - 1; i >= 0; --i) {
            if (i == axis)
                axisStride_ = stride;
            else
                stride_[i] = stride;
            stride *= target[i];
        }
    }

    // Returns the position of the current element at `place` of the axis.
    int64_t at(int64_t place) const noexcept { return position_ + place * axisStride_; }

    void next() noexcept {
        for (int i = extents_.rank() - 1; i >= 0; --i) {
            position_ += stride_[i];
            if (++coordinate_[i] < extents_[i]) return;
            position_ -= stride_[i] * coordinate_[i];
            coordinate_[i] = 0;
        }
    }

  private:
    const Shape& extents_;
    int64_t stride_[kMaxRank] = {};  // 0 for the axis
    int64_t coordinate_[kMaxRank] = {};
    int64_t axisStride_ = 0, position_ = 0;
};

// Returns the linear start of row `r` of an index tensor. Throws InputDataError when one of its indices is outside.
inline int64_t rowStart(const std::string& op, const IndexBounds& bounds, const int64_t* stride, const int32_t* row,
                        int64_t r) {
    // The batch's part of the index counts along the last axis.
    int64_t start = bounds.batchStep == 0 ? 0 : r / bounds.rowsPerBatch * bounds.batchStep * stride[bounds.depth - 1];
    for (int j = 0; j < bounds.depth; ++j) {
        const int64_t at = r * bounds.depth + j, index = bounds.index(row[j], at);
        start += placeOnAxis(op, index, at, bounds.extent[j]) * stride[j];
    }
    return start;
}

}  // namespace mnnc::cpu
