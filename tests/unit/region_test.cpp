// Bounds of regions, and whether they write an element twice: what hostile Rasters are measured by.
#include <gtest/gtest.h>

#include "base/error.h"
#include "ops/operand_view.h"
#include "tensor/region_check.h"
#include "tensor/region_overlap.h"

namespace mnnc {
namespace {

Region box(int64_t offset, std::initializer_list<int64_t> sizes, std::initializer_list<int64_t> strides) {
    Region region;
    region.dst.offset = offset;
    std::copy(sizes.begin(), sizes.end(), region.size);
    std::copy(strides.begin(), strides.end(), region.dst.stride);
    for (int64_t& stride : region.src.stride) stride = 0;
    return region;
}

TEST(Regions, WritesOnce) {
    EXPECT_TRUE(writesOnce(box(0, {2, 3, 4}, {12, 4, 1})));
    EXPECT_TRUE(writesOnce(box(0, {4, 3, 2}, {1, 4, 12})));
    EXPECT_TRUE(writesOnce(box(11, {2, 2, 3}, {-6, 3, -1})));
    EXPECT_TRUE(writesOnce(box(5, {1, 1, 1}, {0, 0, 0})));
    EXPECT_FALSE(writesOnce(box(0, {1, 1, 4}, {0, 0, 0})));
    EXPECT_FALSE(writesOnce(box(0, {1, 2, 2}, {0, 1, 1})));
    EXPECT_FALSE(writesOnce(box(0, {1, 3, 4}, {0, 3, 1})));
    EXPECT_FALSE(writesOnce(box(3, {1, 2, 4}, {0, -3, 1})));
}

TEST(Regions, ChecksTheProductOfTheSizes) {
    const auto status = [](const Region& region) {
        try {
            checkRegion(region, 8, 8, "op");
            return Status::Ok;
        } catch (const Error& error) {
            return error.status();
        }
    };
    constexpr int64_t kMost = (int64_t{1} << 31) - 1;
    EXPECT_EQ(status(box(0, {1, 2, 4}, {0, 4, 1})), Status::Ok);
    EXPECT_EQ(status(box(0, {kMost, 0, kMost}, {0, 0, 0})), Status::Ok) << "no elements";
    EXPECT_EQ(status(box(0, {kMost, kMost, 1}, {0, 0, 0})), Status::BadRange);
    EXPECT_EQ(status(box(0, {kMost, kMost, kMost}, {0, 0, 0})), Status::Overflow);
    EXPECT_EQ(status(box(0, {1, 2, -1}, {0, 4, 1})), Status::BadRange);
    EXPECT_EQ(status(box(1, {1, 2, 4}, {0, 4, 1})), Status::BadRange);
}

TEST(Regions, Overlap) {
    const auto overlap = [](std::initializer_list<Region> regions) {
        return regionsOverlap({regions.begin(), regions.size()}, 24);
    };
    EXPECT_FALSE(overlap({box(0, {1, 3, 4}, {0, 8, 1}), box(4, {1, 3, 4}, {0, 8, 1})}));
    EXPECT_TRUE(overlap({box(0, {1, 3, 4}, {0, 8, 1}), box(3, {1, 3, 4}, {0, 8, 1})}));
    EXPECT_FALSE(overlap({box(0, {1, 1, 12}, {0, 0, 2}), box(1, {1, 1, 12}, {0, 0, 2})}));
    EXPECT_TRUE(overlap({box(0, {1, 1, 8}, {0, 0, 3}), box(0, {1, 1, 12}, {0, 0, 2})}));
}

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

TEST(OperandView, GivesUp) {
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
}  // namespace mnnc
