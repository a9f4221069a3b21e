// Ranges of addresses, and which of them a view of a region reaches.
#pragma once
#include "tensor/region.h"

namespace mnnc {

struct Interval {
    int64_t first, last;
    bool holds(const Interval& other) const noexcept { return first <= other.first && other.last <= last; }
    bool meets(const Interval& other) const noexcept { return first <= other.last && other.first <= last; }
};

// Returns the range of addresses that a view of a region reaches. The region must have elements, and must have passed
// checkRegion().
inline Interval reachOf(const View& view, const int64_t (&size)[3]) noexcept {
    Interval reached{view.offset, view.offset};
    for (int i = 0; i < 3; ++i) {
        const int64_t distance = view.stride[i] * (size[i] - 1);
        (distance < 0 ? reached.first : reached.last) += distance;
    }
    return reached;
}

}  // namespace mnnc
