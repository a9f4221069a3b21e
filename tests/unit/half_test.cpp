// Conversions of single numbers between float and IEEE half.
#include "base/half.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>

namespace mnnc::test {
namespace {

// The numbers next to and in the middle between two halves that follow one another. All sums are exact in double.
void expectRounded(uint16_t lower) {
    const double a = halfToFloat(lower), b = halfToFloat(static_cast<uint16_t>(lower + 1));
    const auto middle = static_cast<float>((a + b) / 2);
    const auto upper = static_cast<uint16_t>(lower + 1);
    EXPECT_EQ(floatToHalf(static_cast<float>(a)), lower);
    EXPECT_EQ(floatToHalf(middle), lower % 2 == 0 ? lower : upper) << middle;
    EXPECT_EQ(floatToHalf(std::nextafter(middle, 0.0f)), lower) << middle;
    EXPECT_EQ(floatToHalf(std::nextafter(middle, INFINITY)), upper) << middle;
    EXPECT_EQ(floatToHalf(-middle), (lower % 2 == 0 ? lower : upper) | 0x8000) << middle;
}

TEST(Half, RoundsToNearestInEveryModeOfTheThread) {
    for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        ASSERT_EQ(std::fesetround(mode), 0);
        for (uint16_t lower = 0; lower < 0x7bff && !HasFailure(); ++lower) expectRounded(lower);
        std::fesetround(FE_TONEAREST);
    }
}

TEST(Half, EndsOfTheRange) {
    EXPECT_EQ(floatToHalf(65504.0f), 0x7bff);
    EXPECT_EQ(floatToHalf(65519.996f), 0x7bff);
    EXPECT_EQ(floatToHalf(65520.0f), 0x7c00);
    EXPECT_EQ(floatToHalf(-INFINITY), 0xfc00);
    EXPECT_EQ(floatToHalf(NAN) & 0x7e00, 0x7e00);
    EXPECT_EQ(floatToHalf(-0.0f), 0x8000);
    EXPECT_EQ(floatToHalf(0x1p-149f), 0);
    EXPECT_EQ(floatToHalf(-0x1p-25f), 0x8000);
    EXPECT_TRUE(std::isnan(halfToFloat(0x7e01)));
    EXPECT_EQ(halfToFloat(0xfc00), -INFINITY);
}

}  // namespace
}  // namespace mnnc::test
