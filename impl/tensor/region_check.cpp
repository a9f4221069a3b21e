#include "tensor/region_check.h"

#include "base/checked.h"

namespace mnnc {

namespace {

void checkView(const View& view, const int64_t* size, int64_t elements, const char* side, const char* what) {
    int64_t low = view.offset, high = view.offset;
    for (int axis = 0; axis < 3; ++axis) {
        if (size[axis] <= 1) continue;
        const int64_t distance = checkedMul(size[axis] - 1, view.stride[axis], what);
        int64_t& bound = distance < 0 ? low : high;
        bound = checkedAdd(bound, distance, what);
    }
    if (low < 0 || high >= elements)
        fail(Status::BadRange, "%s: a region %s elements %lld to %lld of a tensor of %lld", what, side,
             static_cast<long long>(low), static_cast<long long>(high), static_cast<long long>(elements));
}

}  // namespace

void checkRegion(const Region& region, int64_t sourceElements, int64_t destinationElements,
                 const char* what) {
    for (const int64_t size : region.size) {
        if (size < 0) fail(Status::BadRange, "%s: a region of size %lld", what, static_cast<long long>(size));
        if (size == 0) return;
    }
    checkView(region.src, region.size, sourceElements, "reads", what);
    checkView(region.dst, region.size, destinationElements, "writes", what);
}

bool isIdentity(std::span<const Region> regions, int64_t elements) noexcept {
    if (regions.size() != 1 || regions[0].src.offset != 0 || regions[0].dst.offset != 0) return false;
    const Region& region = regions[0];
    int64_t expected = 1;
    for (int axis = 2; axis >= 0; --axis) {
        if (region.size[axis] == 1) continue;
        if (region.src.stride[axis] != expected || region.dst.stride[axis] != expected) return false;
        expected *= region.size[axis];
    }
    return expected == elements;
}

}  // namespace mnnc
