// A region copies a box of up to three axes from one tensor into another. Offsets and strides count elements
// of the logical linear order: row-major over the extents, independent of the storage.
#pragma once
#include <cstdint>

namespace mnnc {

struct View {
    int64_t offset = 0;
    int64_t stride[3] = {1, 1, 1};
};

struct Region {
    int input = 0;  // the input of the Raster command that it reads
    View src;       // strides may be 0 (broadcast) or negative (flip)
    View dst;
    int64_t size[3] = {1, 1, 1};  // outermost first

    int64_t count() const noexcept { return size[0] * size[1] * size[2]; }
};

}  // namespace mnnc
