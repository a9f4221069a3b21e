// Regions of tests: a box of a destination.
#pragma once
#include <algorithm>
#include <initializer_list>

#include "tensor/region.h"

namespace mnnc::test {

inline Region box(int64_t offset, std::initializer_list<int64_t> sizes, std::initializer_list<int64_t> strides) {
    Region region;
    region.dst.offset = offset;
    std::copy(sizes.begin(), sizes.end(), region.size);
    std::copy(strides.begin(), strides.end(), region.dst.stride);
    for (int64_t& stride : region.src.stride) stride = 0;
    return region;
}

}  // namespace mnnc::test
