// Detection of two regions of a Raster that write the same element.
#include "tensor/region_overlap.h"

#include <gtest/gtest.h>

#include "region_box.h"

namespace mnnc::test {
namespace {

TEST(RegionOverlap, FindsSharedElements) {
    const auto overlap = [](std::initializer_list<Region> regions) {
        return regionsOverlap({regions.begin(), regions.size()}, 24);
    };
    EXPECT_FALSE(overlap({box(0, {1, 3, 4}, {0, 8, 1}), box(4, {1, 3, 4}, {0, 8, 1})}));
    EXPECT_TRUE(overlap({box(0, {1, 3, 4}, {0, 8, 1}), box(3, {1, 3, 4}, {0, 8, 1})}));
    EXPECT_FALSE(overlap({box(0, {1, 1, 12}, {0, 0, 2}), box(1, {1, 1, 12}, {0, 0, 2})}));
    EXPECT_TRUE(overlap({box(0, {1, 1, 8}, {0, 0, 3}), box(0, {1, 1, 12}, {0, 0, 2})}));
}

TEST(RegionOverlap, OneRegionSharesWithNoOther) {
    const Region repeated = box(0, {1, 1, 48}, {0, 0, 0});
    EXPECT_FALSE(regionsOverlap({&repeated, 1}, 24));
}

// Where a destination is too large to mark its elements, spans or boxes show that regions are disjoint.
TEST(RegionOverlap, DecidesForLargeDestinations) {
    const auto overlap = [](std::initializer_list<Region> regions) {
        return regionsOverlap({regions.begin(), regions.size()}, int64_t{1} << 27);
    };
    EXPECT_FALSE(overlap({box(0, {4, 3, 4}, {64, 8, 1}), box(4, {4, 3, 4}, {64, 8, 1})}));
    EXPECT_FALSE(
        overlap({box(60, {1, 1, 9}, {0, 0, 5}), box(0, {1, 1, 8}, {0, 0, 3}), box(30, {1, 1, 12}, {0, 0, 2})}));
    // Neither applies here.
    EXPECT_TRUE(overlap({box(0, {1, 1, 8}, {0, 0, 3}), box(1, {1, 1, 12}, {0, 0, 2})}));
}

}  // namespace
}  // namespace mnnc::test
