// How a program stores the elements of a tensor.
#pragma once
#include <tuple>

namespace mnnc {

struct Storage {
    // 1: row-major over the extents, in the order of the format. P > 1: channel-packed [N][ceil(C/P)][plane][P] with C
    // = extent 1 of an NCHW or NC4HW4 tensor and plane = all extents behind it (1 when the rank is 2); batch outermost;
    // lanes beyond C hold unspecified values and must never influence a result.
    int channelBlock = 1;
    // In memory of a device, whose backend decides the width of elements.
    bool onDevice = false;
    // A device that stores floats in 16 bits keeps 32 of these, which are coordinates (ops/coordinates.h).
    bool wide = false;

    bool operator==(const Storage&) const = default;
    bool operator<(const Storage& other) const {
        return std::tie(channelBlock, onDevice, wide) < std::tie(other.channelBlock, other.onDevice, other.wide);
    }
};

}  // namespace mnnc
