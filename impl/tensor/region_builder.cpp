// Merges and enumerates boxes; see region_builder.h.
#include "tensor/region_builder.h"

#include <algorithm>

#include "base/checked.h"

namespace mnnc {

namespace {

// Returns the axis to enumerate: the smallest one, but never one that is contiguous in both tensors while there is
// another.
size_t axisToEnumerate(const std::vector<BoxAxis>& axes) {
    size_t best = axes.size();
    for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].src == 1 && axes[i].dst == 1) continue;
        if (best == axes.size() || axes[i].size < axes[best].size) best = i;
    }
    return best;
}

}  // namespace

Strides rowMajorStrides(const Shape& shape) {
    Strides strides{};
    int64_t stride = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        strides[static_cast<size_t>(axis)] = stride;
        stride = checkedMul(stride, std::max<int64_t>(shape[axis], 1), "strides");
    }
    return strides;
}

void RegionBuilder::box(int input, int64_t srcOffset, int64_t dstOffset, std::span<const BoxAxis> axes) {
    std::vector<BoxAxis> merged;
    for (const BoxAxis& axis : axes) {
        if (axis.size <= 0) return;
        if (axis.size == 1) continue;
        if (!merged.empty()) {
            BoxAxis& last = merged.back();
            if (last.src == axis.size * axis.src && last.dst == axis.size * axis.dst) {
                last = {last.size * axis.size, axis.src, axis.dst};
                continue;
            }
        }
        merged.push_back(axis);
    }
    std::vector<BoxAxis> outer;
    int64_t count = 1;
    while (merged.size() > 3) {
        const size_t at = axisToEnumerate(merged);
        count = checkedMul(count, merged[at].size, opName_);
        outer.push_back(merged[at]);
        merged.erase(merged.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (count > kMaxRegions - static_cast<int64_t>(regions_.size()))
        fail(Status::LimitExceeded, "op '%s' would need %lld regions besides its %zu; the limit is %lld", opName_,
             asLong(count), regions_.size(), asLong(kMaxRegions));
    enumerate(input, srcOffset, dstOffset, outer, merged);
}

void RegionBuilder::enumerate(int input, int64_t srcOffset, int64_t dstOffset, std::span<const BoxAxis> outer,
                              std::span<const BoxAxis> inner) {
    if (!outer.empty()) {
        for (int64_t i = 0; i < outer[0].size; ++i)
            enumerate(input, srcOffset + i * outer[0].src, dstOffset + i * outer[0].dst, outer.subspan(1), inner);
        return;
    }
    Region region;
    region.input = input;
    region.src.offset = srcOffset;
    region.dst.offset = dstOffset;
    const size_t shift = 3 - inner.size();
    for (size_t i = 0; i < inner.size(); ++i) {
        region.size[shift + i] = inner[i].size;
        region.src.stride[shift + i] = inner[i].src;
        region.dst.stride[shift + i] = inner[i].dst;
    }
    regions_.push_back(region);
}

}  // namespace mnnc
