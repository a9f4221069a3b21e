// Ranges of addresses, and which of them a view of a region reaches.
#pragma once
#include "tensor/region.h"

namespace mnnc {

struct Interval {
    int64_t first, last;
    bool holds(const Interval& other) const noexcept { return first <= other.first && other.last <= last; }
    bool meets(const Interval& other) const noexcept { return first <= other.last && other.first <= last; }
};

// For a region that checkRegion() has accepted, with elements.
inline Interval reachOf(const View& view, const int64_t (&size)[3]) noexcept {
    Interval reached{view.offset, view.offset};
    for (int i = 0; i < 3; ++i) {
        const int64_t way = view.stride[i] * (size[i] - 1);
        (way < 0 ? reached.first : reached.last) += way;
    }
    return reached;
}

}  // namespace mnnc
