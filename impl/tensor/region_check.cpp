// Finds the extreme addresses of a region and recognises linear copies.
#include "tensor/region_check.h"

#include "base/checked.h"

namespace mnnc {

namespace {

struct Reach {
    int64_t low, high;
};

Reach checkedReach(const View& view, const int64_t* size, const char* what) {
    Reach reach{view.offset, view.offset};
    for (int axis = 0; axis < 3; ++axis) {
        if (size[axis] <= 1) continue;
        const int64_t distance = checkedMul(size[axis] - 1, view.stride[axis], what);
        int64_t& bound = distance < 0 ? reach.low : reach.high;
        bound = checkedAdd(bound, distance, what);
    }
    return reach;
}

void checkView(const View& view, const int64_t* size, int64_t elements, const char* side, const char* what) {
    const auto [low, high] = checkedReach(view, size, what);
    if (low < 0 || high >= elements)
        fail(Status::BadRange, "%s: a region %s elements %lld to %lld of a tensor of %lld", what, side, asLong(low),
             asLong(high), asLong(elements));
}

}  // namespace

void checkRegion(const Region& region, int64_t sourceElements, int64_t destinationElements, const char* what) {
    for (const int64_t size : region.size) {
        if (size < 0) fail(Status::BadRange, "%s: a region has the negative size %lld", what, asLong(size));
        if (size == 0) return;
    }
    if (checkedMul(checkedMul(region.size[0], region.size[1], what), region.size[2], what) > INT32_MAX)
        fail(Status::BadRange, "%s: a region has %lld x %lld x %lld elements, more than 2^31 - 1", what,
             asLong(region.size[0]), asLong(region.size[1]), asLong(region.size[2]));
    checkView(region.src, region.size, sourceElements, "reads", what);
    checkView(region.dst, region.size, destinationElements, "writes", what);
}

bool writesNothing(const Region& region, int64_t destinationElements, const char* what) {
    const auto [low, high] = checkedReach(region.dst, region.size, what);
    return high < 0 || low >= destinationElements;
}

bool writesOnce(const Region& region) noexcept {
    // In the order of growing strides, each must be larger than the range that the smaller ones cover.
    bool done[3] = {};
    int64_t reach = 0;
    for (int round = 0; round < 3; ++round) {
        int next = -1;
        int64_t step = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const int64_t stride = region.dst.stride[axis] < 0 ? -region.dst.stride[axis] : region.dst.stride[axis];
            if (done[axis] || region.size[axis] <= 1 || (next >= 0 && stride >= step)) continue;
            next = axis;
            step = stride;
        }
        if (next < 0) return true;
        if (step <= reach) return false;
        reach += step * (region.size[next] - 1);
        done[next] = true;
    }
    return true;
}

bool copiesRange(const Region& region) noexcept {
    int64_t expected = 1;
    for (int axis = 2; axis >= 0; --axis) {
        if (region.size[axis] == 1) continue;
        if (region.src.stride[axis] != expected || region.dst.stride[axis] != expected) return false;
        expected *= region.size[axis];
    }
    return true;
}

bool isLinear(const Region& region, int64_t elements) noexcept {
    return region.src.offset == 0 && copiesRange(region) && region.count() == elements;
}

bool isIdentity(std::span<const Region> regions, int64_t elements) noexcept {
    return regions.size() == 1 && regions[0].dst.offset == 0 && isLinear(regions[0], elements);
}

}  // namespace mnnc
