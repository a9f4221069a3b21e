// Bounds of regions, and whether one writes an element twice.
#include "tensor/region_check.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "region_box.h"

namespace mnnc::test {
namespace {

TEST(RegionCheck, WritesOnce) {
    EXPECT_TRUE(writesOnce(box(0, {2, 3, 4}, {12, 4, 1})));
    EXPECT_TRUE(writesOnce(box(0, {4, 3, 2}, {1, 4, 12})));
    EXPECT_TRUE(writesOnce(box(11, {2, 2, 3}, {-6, 3, -1})));
    EXPECT_TRUE(writesOnce(box(5, {1, 1, 1}, {0, 0, 0})));
    EXPECT_FALSE(writesOnce(box(0, {1, 1, 4}, {0, 0, 0})));
    EXPECT_FALSE(writesOnce(box(0, {1, 2, 2}, {0, 1, 1})));
    EXPECT_FALSE(writesOnce(box(0, {1, 3, 4}, {0, 3, 1})));
    EXPECT_FALSE(writesOnce(box(3, {1, 2, 4}, {0, -3, 1})));
}

TEST(RegionCheck, ChecksTheProductOfTheSizes) {
    const auto status = [](const Region& region) {
        try {
            checkRegion(region, 8, 8, "op");
            return Status::Ok;
        } catch (const Error& error) {
            return error.status();
        }
    };
    constexpr int64_t kMax = (int64_t{1} << 31) - 1;
    EXPECT_EQ(status(box(0, {1, 2, 4}, {0, 4, 1})), Status::Ok);
    EXPECT_EQ(status(box(0, {kMax, 0, kMax}, {0, 0, 0})), Status::Ok) << "no elements";
    EXPECT_EQ(status(box(0, {kMax, kMax, 1}, {0, 0, 0})), Status::BadRange);
    EXPECT_EQ(status(box(0, {kMax, kMax, kMax}, {0, 0, 0})), Status::Overflow);
    EXPECT_EQ(status(box(0, {1, 2, -1}, {0, 4, 1})), Status::BadRange);
    EXPECT_EQ(status(box(1, {1, 2, 4}, {0, 4, 1})), Status::BadRange);
}

}  // namespace
}  // namespace mnnc::test
