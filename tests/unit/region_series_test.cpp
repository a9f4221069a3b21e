// Regions that together are one box of four axes: views through them, element by element, and regions that are no such
// box.
#include "ir/region_series.h"

#include <gtest/gtest.h>

#include <vector>

#include "region_box.h"

namespace mnnc::test {
namespace {

// [2][3][4][5] read as [2][4][3][5] of the source: heads of a batch of two, a region for each.
std::vector<Region> transposedHeads() {
    std::vector<Region> regions;
    for (int64_t batch = 0; batch < 2; ++batch) {
        Region region = box(batch * 60, {3, 4, 5}, {20, 5, 1});
        region.src.offset = 7 + batch * 60;
        const int64_t strides[] = {5, 15, 1};
        std::copy_n(strides, 3, region.src.stride);
        regions.push_back(region);
    }
    return regions;
}

// Returns the place of every element of a view, in the order of its shape.
std::vector<int64_t> places(const OperandView& view) {
    std::vector<int64_t> result;
    for (int64_t i = 0; i < view.shape.elements(); ++i) {
        int64_t rest = i, place = view.offset;
        for (int axis = view.shape.rank() - 1; axis >= 0; --axis) {
            place += rest % view.shape[axis] * view.stride[static_cast<size_t>(axis)];
            rest /= view.shape[axis];
        }
        result.push_back(place);
    }
    return result;
}

TEST(RegionSeries, ViewsReadWhatTheRegionsCopy) {
    const std::vector<Region> regions = transposedHeads();
    std::vector<int64_t> expected(120, -1);
    for (const Region& r : regions)
        for (int64_t i = 0; i < 3; ++i)
            for (int64_t j = 0; j < 4; ++j)
                for (int64_t k = 0; k < 5; ++k)
                    expected[size_t(r.dst.offset + i * 20 + j * 5 + k)] = r.src.offset + i * 5 + j * 15 + k;
    const auto series = RegionSeries::of(regions);
    ASSERT_TRUE(series);
    EXPECT_TRUE(series->fills(120));
    for (const Shape& shape : {Shape{2, 3, 4, 5}, Shape{2, 3, 2, 2, 5}}) {
        const auto view = series->through(OperandView::of(shape), 120);
        ASSERT_TRUE(view);
        EXPECT_EQ(places(*view), expected);
    }
    EXPECT_FALSE(series->through(OperandView::of({6, 20}), 120));  // heads carry into the batch
}

TEST(RegionSeries, ReversedItReadsWhereTheRegionsWrote) {
    std::vector<Region> regions = transposedHeads();
    for (Region& region : regions) region.src.offset -= 7;
    const auto series = RegionSeries::of(regions);
    ASSERT_TRUE(series);
    const auto view = series->reversed().through(OperandView::of({2, 4, 3, 5}), 120);
    ASSERT_TRUE(view);
    const std::vector<int64_t> to = places(*view);
    for (int64_t b = 0, i = 0; b < 2; ++b)
        for (int64_t j = 0; j < 4; ++j)
            for (int64_t h = 0; h < 3; ++h)
                for (int64_t k = 0; k < 5; ++k, ++i) EXPECT_EQ(to[size_t(i)], b * 60 + h * 20 + j * 5 + k);
}

TEST(RegionSeries, RefusesWhatIsNoBox) {
    EXPECT_FALSE(RegionSeries::of({}));
    const auto changed = [](auto&& change) {
        std::vector<Region> regions = transposedHeads();
        regions.push_back(regions[1]);
        regions[2].src.offset += 60;
        regions[2].dst.offset += 60;
        EXPECT_TRUE(RegionSeries::of(regions));
        change(regions[2]);
        return RegionSeries::of(regions).has_value();
    };
    EXPECT_FALSE(changed([](Region& r) { r.src.offset += 1; }));
    EXPECT_FALSE(changed([](Region& r) { r.dst.offset += 1; }));
    EXPECT_FALSE(changed([](Region& r) { r.size[1] = 3; }));
    EXPECT_FALSE(changed([](Region& r) { r.src.stride[2] = 2; }));
    EXPECT_FALSE(changed([](Region& r) { r.dst.stride[0] = 21; }));
}

TEST(RegionSeries, FillsExactlyTheWholeDestination) {
    std::vector<Region> regions = transposedHeads();
    const auto fills = [&](int64_t elements) { return RegionSeries::of(regions)->fills(elements); };
    EXPECT_FALSE(fills(119));
    EXPECT_FALSE(fills(121));
    EXPECT_FALSE(fills(60));
    for (Region& region : regions) ++region.dst.offset;
    EXPECT_FALSE(fills(120));
    regions = transposedHeads();
    for (Region& region : regions) region.dst.stride[0] = 15;  // elements are written twice
    EXPECT_FALSE(fills(120));
    for (Region& region : regions) region.size[0] = 0;
    EXPECT_FALSE(fills(0));
}

}  // namespace
}  // namespace mnnc::test
