// FixedFactor: TFLite's multiplication in fixed point.
#include "ops/fixed_point.h"

#include <gtest/gtest.h>

namespace mnnc::test {
namespace {

TEST(FixedFactor, IsTheNearestProductEvenAtTheEnds) {
    EXPECT_EQ(FixedFactor::of(0.5).times(7), 4);
    EXPECT_EQ(FixedFactor::of(0.25).times(-6), -2);
    EXPECT_EQ(FixedFactor::of(3).times(1000), 3000);
    EXPECT_EQ(FixedFactor::of(0).times(1000), 0);
    EXPECT_EQ(FixedFactor::of(1e-20).times(std::numeric_limits<int32_t>::max()), 0);
    EXPECT_EQ(FixedFactor::of(1 << 20).times(std::numeric_limits<int32_t>::max()), 1 << 30);
    EXPECT_EQ(FixedFactor::of(1 << 20).times(std::numeric_limits<int32_t>::min()), -(1 << 30));
}

}  // namespace
}  // namespace mnnc::test
