// The storage of a tensor's elements in a program.
#pragma once
#include <tuple>

namespace mnnc {

struct Storage {
    // 1: row-major over the extents, in the order of the format. P > 1: channel-packed, [N][ceil(C/P)][plane][P], for a
    // tensor in NCHW or NC4HW4. C is extent 1, and plane the product of all extents after it (1 when the rank is 2).
    // Lanes beyond C hold unspecified values and must never influence a result.
    int channelBlock = 1;
    // The tensor lies in memory of a device, whose backend decides the width of elements.
    bool onDevice = false;
    // The tensor holds coordinates (ops/coordinates.h): a device that stores floats in 16 bits keeps 32 for it.
    bool wide = false;

    bool operator==(const Storage&) const = default;
    bool operator<(const Storage& other) const {
        return std::tie(channelBlock, onDevice, wide) < std::tie(other.channelBlock, other.onDevice, other.wide);
    }
};

}  // namespace mnnc
