// Views of operands through the regions of a Raster.
#include "ops/operand_view.h"

#include <gtest/gtest.h>

#include "region_box.h"

namespace mnnc::test {
namespace {

// A region that fills 2 x 3 x 4 elements from a source with these strides.
Region fills(std::initializer_list<int64_t> strides) {
    Region region = box(0, {2, 3, 4}, {12, 4, 1});
    region.src.offset = 5;
    std::copy(strides.begin(), strides.end(), region.src.stride);
    return region;
}

TEST(OperandView, FollowsARegionToItsSource) {
    const auto view = OperandView::of({6, 4}).through(fills({100, 0, 10}), 24);
    EXPECT_FALSE(view);  // rows carry from one axis of the region to the next
    const auto apart = OperandView::of({2, 3, 4}).through(fills({100, 0, 10}), 24);
    ASSERT_TRUE(apart);
    EXPECT_EQ(apart->offset, 5);
    EXPECT_EQ(apart->stride[0], 100);
    EXPECT_EQ(apart->stride[1], 0);
    EXPECT_EQ(apart->stride[2], 10);
}

TEST(OperandView, RefusesOtherRegions) {
    const OperandView whole = OperandView::of({2, 3, 4});
    EXPECT_FALSE(whole.through(fills({100, 0, 10}), 25));  // a part of the input only
    Region shifted = fills({100, 0, 10});
    shifted.dst.offset = 1;
    EXPECT_FALSE(whole.through(shifted, 24));
    Region empty = fills({100, 0, 10});
    empty.size[1] = 0;
    EXPECT_FALSE(OperandView::of({2, 0, 4}).through(empty, 0));
    const auto flipped = whole.through(fills({-12, 4, 1}), 24);
    ASSERT_TRUE(flipped);
    EXPECT_FALSE(flipped->through(fills({12, 4, 1}), 24));  // steps backwards
}

}  // namespace
}  // namespace mnnc::test
