// Histogram: ends of bins, and refused parameters.
#include <limits>

#include "op_harness.h"

namespace mnnc::test {
namespace {

constexpr OpType kType = OpType::Histogram;

Table histogram(int bins, int low, int high, int channel = -1) {
    return
        [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateArgMax(b, bins, high, channel, low)); };
}

TEST(Histogram, EndsOfBins) {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    const Value x = floats({2, 4}, {0, 1, 1.5f, 2, 3, 4, -0.1f, kNaN});
    EXPECT_EQ(run(kType, histogram(4, 0, 4), {x}).data, (std::vector<float>{1, 2, 1, 2}));
    EXPECT_EQ(run(kType, histogram(2, 0, 4, 1), {x}).data, (std::vector<float>{1, 1}));
    EXPECT_EQ(run(kType, histogram(1, INT32_MIN, INT32_MAX), {x}).data, (std::vector<float>{7}));
}

TEST(Histogram, Refuses) {
    expectRefused(kType, histogram(0, 0, 1), {iota({3})}, Status::BadParameter, "the histogram has 0 bins");
    expectRefused(kType, histogram(3, 2, 1), {iota({3})}, Status::BadParameter,
                  "the histogram begins at 2 and ends at 1");
    expectRefused(kType, histogram(3, 0, 1, 3), {iota({2, 3})}, Status::ComputeSizeError,
                  "channel 3 is outside of the input 2x3");
    expectRefused(kType, histogram(3, 0, 1, 0), {iota({})}, Status::ComputeSizeError,
                  "channel 0 is outside of the input");
}

}  // namespace
}  // namespace mnnc::test
