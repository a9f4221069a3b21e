// Views of operands through the regions of a Raster.
#include "ir/operand_view.h"

#include <gtest/gtest.h>

#include "region_box.h"

namespace mnnc::test {
namespace {

// Returns a region that fills 2 x 3 x 4 elements from a source with these strides.
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

// An axis of the operand may walk an axis of the region in steps of several elements, but not past its end: the rows of
// 2 x 2 are rows 0 to 3 of the region's axis, but row 2 of 4 x 2 would be its row 4.
TEST(OperandView, StepsOfSeveralElementsStayInTheirAxis) {
    Region region = box(0, {2, 4, 3}, {12, 3, 1});
    std::copy_n(std::initializer_list<int64_t>{100, 7, 1}.begin(), 3, region.src.stride);
    const auto inside = OperandView::of({2, 2, 2, 3}).through(region, 24);
    ASSERT_TRUE(inside);
    EXPECT_EQ(inside->stride[0], 100);
    EXPECT_EQ(inside->stride[1], 14);
    EXPECT_EQ(inside->stride[2], 7);
    EXPECT_EQ(inside->stride[3], 1);
    EXPECT_FALSE(OperandView::of({4, 2, 3}).through(region, 24));
}

TEST(OperandView, RefusesOtherRegions) {
    const OperandView whole = OperandView::of({2, 3, 4});
    EXPECT_FALSE(whole.through(fills({100, 0, 10}), 25));  // only a part of the input
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
