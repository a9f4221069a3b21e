// An odometer over the coordinates of a tensor that keeps a linear position in another tensor of equal rank,
// with one axis left out: what element-wise gathers and scatters walk with.
#pragma once
#include "tensor/shape.h"

namespace mnnc::cpu {

class ElementWalk {
  public:
    // Walks `extents`; positions count in a tensor of shape `target`, without `axis`.
    ElementWalk(const Shape& extents, const Shape& target, int axis) noexcept
        : extents_(extents), target_(target), axis_(axis) {
        int64_t stride = 1;
        for (int i = target.rank() - 1; i >= 0; --i) {
            stride_[i] = stride;
            stride *= target[i];
        }
    }

    // Position of the current element with `index` on the axis, or -1 when it is outside of the target.
    int64_t at(int64_t index) const noexcept {
        if (outside_ || index < 0 || index >= target_[axis_]) return -1;
        return position_ + index * stride_[axis_];
    }

    void next() noexcept {
        for (int i = extents_.rank() - 1; i >= 0; --i) {
            if (++coordinate_[i] < extents_[i]) break;
            coordinate_[i] = 0;
        }
        position_ = 0;
        outside_ = false;
        for (int i = 0; i < extents_.rank(); ++i) {
            if (i == axis_) continue;
            outside_ |= coordinate_[i] >= target_[i];
            position_ += coordinate_[i] * stride_[i];
        }
    }

  private:
    const Shape& extents_;
    const Shape& target_;
    int axis_;
    int64_t stride_[kMaxRank] = {};
    int64_t coordinate_[kMaxRank] = {};
    int64_t position_ = 0;
    bool outside_ = false;
};

// The linear start of one row of indices, or -1 when one of them is outside.
inline int64_t rowStart(const int32_t* row, int depth, const int64_t* extent,
                        const int64_t* stride) noexcept {
    int64_t start = 0;
    for (int j = 0; j < depth; ++j) {
        if (row[j] < 0 || row[j] >= extent[j]) return -1;
        start += row[j] * stride[j];
    }
    return start;
}

}  // namespace mnnc::cpu
