// Composes views of operands with the regions of a Raster.
#include "ir/region_series.h"

#include <algorithm>
#include <utility>

namespace mnnc {

std::optional<RegionSeries> RegionSeries::of(std::span<const Region> regions) {
    if (regions.empty()) return {};
    const Region& first = regions[0];
    RegionSeries series;
    series.src = first.src.offset;
    series.dst = first.dst.offset;
    for (int a = 0; a < 3; ++a) series.axes[a + 1] = {first.size[a], first.src.stride[a], first.dst.stride[a]};
    const auto count = static_cast<int64_t>(regions.size());
    series.axes[0].size = count;
    if (count > 1) {
        series.axes[0].src = regions[1].src.offset - series.src;
        series.axes[0].dst = regions[1].dst.offset - series.dst;
    }
    for (int64_t i = 1; i < count; ++i) {
        const Region &one = regions[static_cast<size_t>(i)], &before = regions[static_cast<size_t>(i - 1)];
        if (one.src.offset - before.src.offset != series.axes[0].src ||
            one.dst.offset - before.dst.offset != series.axes[0].dst ||
            !std::equal(one.size, one.size + 3, first.size) ||
            !std::equal(one.src.stride, one.src.stride + 3, first.src.stride) ||
            !std::equal(one.dst.stride, one.dst.stride + 3, first.dst.stride))
            return {};
    }
    return series;
}

RegionSeries RegionSeries::reversed() const {
    RegionSeries result = *this;
    std::swap(result.src, result.dst);
    for (Axis& axis : result.axes) std::swap(axis.src, axis.dst);
    return result;
}

// Sorts the axes by descending stride of the destination. Axes with one element come first, because their strides have
// no meaning.
RegionSeries RegionSeries::inOrder() const {
    RegionSeries result = *this;
    std::stable_sort(std::begin(result.axes), std::end(result.axes), [](const Axis& a, const Axis& b) {
        const auto reach = [](const Axis& axis) { return axis.size > 1 ? axis.dst : INT64_MAX; };
        return reach(a) > reach(b);
    });
    return result;
}

bool RegionSeries::fills(int64_t elements) const {
    const RegionSeries sorted = inOrder();
    int64_t count = 1;
    for (int a = 3; a >= 0; --a) {
        const Axis& axis = sorted.axes[a];
        if (axis.size > 1 && axis.dst != count) return false;
        // Each region has been checked, but the number of elements of all regions has not.
        if (axis.size > 1 && count > elements / axis.size) return false;
        count *= axis.size;
    }
    return dst == 0 && count > 0 && count == elements;
}

std::optional<OperandView> RegionSeries::through(const OperandView& view, int64_t elements) const {
    // The series fills the input in order, so the positions along its axes are the digits of an index into the input,
    // in a mixed radix.
    if (!fills(elements)) return {};
    const RegionSeries sorted = inOrder();
    int64_t inner[4], reach[4], count = 1, rest = view.offset;
    for (int a = 3; a >= 0; --a) {
        inner[a] = count;
        count *= sorted.axes[a].size;
    }
    OperandView result;
    result.shape = view.shape;
    result.offset = src;
    for (int a = 0; a < 4; ++a) {
        reach[a] = rest / inner[a];
        rest %= inner[a];
        result.offset += reach[a] * sorted.axes[a].src;
    }
    for (int axis = 0; axis < view.shape.rank(); ++axis) {
        if (view.shape[axis] == 1) continue;
        const auto k = static_cast<size_t>(axis);
        int a = 3;
        while (a > 0 && (sorted.axes[a].size == 1 || view.stride[k] >= inner[a] * sorted.axes[a].size)) --a;
        if (view.stride[k] < inner[a] || view.stride[k] % inner[a] != 0) return {};
        const int64_t digits = view.stride[k] / inner[a];
        reach[a] += (view.shape[axis] - 1) * digits;
        result.stride[k] = digits * sorted.axes[a].src;
    }
    // No step may carry into the next digit.
    for (int a = 0; a < 4; ++a)
        if (reach[a] >= sorted.axes[a].size) return {};
    return result;
}

}  // namespace mnnc
