// Composes two Rasters into one list of regions.
#include "tensor/region_compose.h"

#include <algorithm>
#include <cstdlib>

#include "tensor/region_check.h"
#include "tensor/region_reach.h"

namespace mnnc {

namespace {

// Returns the part of a region with indices begin .. end of one axis.
Region part(Region region, int axis, int64_t begin, int64_t end) noexcept {
    region.src.offset += begin * region.src.stride[axis];
    region.dst.offset += begin * region.dst.stride[axis];
    region.size[axis] = end - begin;
    return region;
}

// Returns the axis with the largest step in a view, among those with more than one index; -1: there is none.
int widestAxis(const View& view, const int64_t (&size)[3]) noexcept {
    int widest = -1;
    for (int i = 0; i < 3; ++i)
        if (size[i] > 1 && (widest < 0 || std::abs(view.stride[i]) > std::abs(view.stride[widest]))) widest = i;
    return widest;
}

class Composition {
  public:
    Composition(std::span<const Region> inner, size_t maxRegions) : inner_(inner), maxRegions_(maxRegions) {}

    bool add(const Region& outer) {
        if (outer.count() == 0) return true;
        const Interval wanted = reachOf(outer.src, outer.size);
        if (const Region* whole = rangeWith(wanted)) {
            emit(*whole,
                 {outer.src.offset - whole->dst.offset + whole->src.offset,
                  {outer.src.stride[0], outer.src.stride[1], outer.src.stride[2]}},
                 outer.dst, outer);
            return result.size() <= maxRegions_;
        }
        return copiesRange(outer) ? clip(outer, wanted) : split(outer);
    }

    std::vector<Region> result;

  private:
    // Returns the region that writes this whole range from one range of its source.
    const Region* rangeWith(const Interval& wanted) const {
        for (const Region& region : inner_)
            if (region.count() > 0 && copiesRange(region) && reachOf(region.dst, region.size).holds(wanted))
                return &region;
        return nullptr;
    }

    // Adds the parts of the regions that write into a range that `outer` copies.
    bool clip(const Region& outer, const Interval& range) {
        int64_t missing = outer.count();
        for (Region region : inner_) {
            if (region.count() == 0) continue;
            const Interval span = reachOf(region.dst, region.size);
            if (!span.meets(range)) continue;
            if (const int axis = widestAxis(region.dst, region.size); axis >= 0 && !range.holds(span)) {
                const int64_t step = region.dst.stride[axis];
                if (step <= 0) return false;
                // The slices of the axis that overlap the range.
                const int64_t depth = span.last - span.first - step * (region.size[axis] - 1);
                const int64_t before = range.first - depth - span.first;
                const int64_t begin = before <= 0 ? 0 : (before + step - 1) / step;
                const int64_t end = std::min(region.size[axis], (range.last - span.first) / step + 1);
                if (begin >= end) continue;
                region = part(region, axis, begin, end);
            }
            if (!range.holds(reachOf(region.dst, region.size))) return false;
            missing -= region.count();
            View to = region.dst;
            to.offset += outer.dst.offset - outer.src.offset;
            emit(region, region.src, to, region);
            if (result.size() > maxRegions_) return false;
        }
        return missing == 0;
    }

    // Splits a region along its widest axis into parts, each of which lies in one range; returns false where no range
    // contains an index.
    bool split(const Region& outer) {
        const int axis = widestAxis(outer.src, outer.size);
        if (axis < 0 || outer.src.stride[axis] == 0) return false;  // a single element that no range contains
        for (int64_t begin = 0; begin < outer.size[axis];) {
            const Region one = part(outer, axis, begin, begin + 1);
            const Interval first = reachOf(one.src, one.size);
            int64_t end = begin + 1;
            if (const Region* range = rangeWith(first)) {
                const Interval held = reachOf(range->dst, range->size);
                const int64_t step = outer.src.stride[axis];
                const int64_t room = step < 0 ? (first.first - held.first) / -step : (held.last - first.last) / step;
                end = std::min(outer.size[axis], end + room);
            }
            if (!add(part(outer, axis, begin, end))) return false;
            begin = end;
        }
        return true;
    }

    void emit(const Region& source, const View& src, const View& dst, const Region& size) {
        Region region;
        region.input = source.input;
        region.src = src;
        region.dst = dst;
        std::copy(std::begin(size.size), std::end(size.size), std::begin(region.size));
        result.push_back(region);
    }

    std::span<const Region> inner_;
    const size_t maxRegions_;
};

}  // namespace

std::optional<std::vector<Region>> composeRegion(const Region& outer, std::span<const Region> inner,
                                                 size_t maxRegions) {
    Composition composition(inner, maxRegions);
    if (!composition.add(outer)) return std::nullopt;
    return std::move(composition.result);
}

}  // namespace mnnc
