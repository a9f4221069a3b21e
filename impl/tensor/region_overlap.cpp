// Decides whether regions of one Raster write the same elements.
#include "tensor/region_overlap.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <vector>

#include "tensor/region_reach.h"

namespace mnnc {

namespace {

constexpr size_t kMaxCompared = 256;    // regions that are compared with one another
constexpr int64_t kMaxMarks = 1 << 26;  // elements that are marked one by one

// Returns whether the ranges of addresses of the regions are disjoint, as those of slices along the outermost axis are.
bool haveDisjointRanges(const std::vector<const Region*>& regions) {
    std::vector<Interval> spans;
    spans.reserve(regions.size());
    for (const Region* region : regions) spans.push_back(reachOf(region->dst, region->size));
    std::sort(spans.begin(), spans.end(), [](const Interval& a, const Interval& b) { return a.first < b.first; });
    for (size_t i = 1; i < spans.size(); ++i)
        if (spans[i].first <= spans[i - 1].last) return false;
    return true;
}

// Describes regions as boxes of coordinates: the digits of their addresses where all strides divide one another.
// Returns false where they are no boxes, or two boxes intersect.
bool disjointBoxes(const std::vector<const Region*>& regions) {
    if (regions.size() > kMaxCompared) return false;
    std::vector<int64_t> radix{1};
    for (const Region* region : regions)
        for (int i = 0; i < 3; ++i)
            if (region->size[i] > 1 && region->dst.stride[i] != 0) radix.push_back(std::abs(region->dst.stride[i]));
    std::sort(radix.begin(), radix.end(), std::greater<>());
    radix.erase(std::unique(radix.begin(), radix.end()), radix.end());
    for (size_t k = 1; k < radix.size(); ++k)
        if (radix[k - 1] % radix[k]) return false;
    std::vector<std::vector<Interval>> boxes;
    for (const Region* region : regions) {
        std::vector<Interval>& box = boxes.emplace_back();
        int64_t rest = reachOf(region->dst, region->size).first;
        for (size_t k = 0; k < radix.size(); ++k) {
            const int64_t digit = rest / radix[k];
            rest %= radix[k];
            Interval span{digit, digit};
            for (int i = 0; i < 3; ++i)
                if (region->size[i] > 1 && std::abs(region->dst.stride[i]) == radix[k])
                    span.last += region->size[i] - 1;
            if (k > 0 && span.last >= radix[k - 1] / radix[k]) return false;
            box.push_back(span);
        }
    }
    for (size_t i = 0; i < boxes.size(); ++i)
        for (size_t j = 0; j < i; ++j) {
            bool apart = false;
            for (size_t k = 0; k < radix.size(); ++k) apart = apart || !boxes[i][k].meets(boxes[j][k]);
            if (!apart) return false;
        }
    return true;
}

bool anyMarkedTwice(const std::vector<const Region*>& regions, int64_t elements) {
    std::vector<bool> marked(static_cast<size_t>(elements));
    for (const Region* region : regions)
        for (int64_t x = 0; x < region->size[0]; ++x)
            for (int64_t y = 0; y < region->size[1]; ++y)
                for (int64_t z = 0; z < region->size[2]; ++z) {
                    const int64_t at = region->dst.offset + x * region->dst.stride[0] + y * region->dst.stride[1] +
                                       z * region->dst.stride[2];
                    if (marked[static_cast<size_t>(at)]) return true;
                    marked[static_cast<size_t>(at)] = true;
                }
    return false;
}

}  // namespace

bool regionsOverlap(std::span<const Region> regions, int64_t elements) {
    std::vector<const Region*> used;
    int64_t covered = 0;
    for (const Region& region : regions)
        if (region.count() > 0) {
            used.push_back(&region);
            covered += region.count();
        }
    if (used.size() < 2) return false;
    if (covered > elements) return true;
    if (haveDisjointRanges(used) || disjointBoxes(used)) return false;
    return elements > kMaxMarks || anyMarkedTwice(used, elements);
}

}  // namespace mnnc
