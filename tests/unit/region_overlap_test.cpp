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

}  // namespace
}  // namespace mnnc::test
