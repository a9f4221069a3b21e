// Checks the values of SpatialProduct and CosineSimilarity, and that wrong inputs are refused.
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(ChannelProducts, MapsAndCosines) {
    EXPECT_EQ(run(OpType::SpatialProduct, {}, {iota({1, 2, 1, 2}), floats({1, 1, 1, 2}, {2, 3})}).data,
              (std::vector<float>{2, 6, 6, 12}));
    expectRefused(OpType::SpatialProduct, {}, {iota({1, 2, 1, 2}), iota({1, 2, 1, 2})}, Status::ComputeSizeError,
                  "does not have one channel");
    const Value y = run(OpType::CosineSimilarity, {},
                        {floats({1, 2, 2}, {1, 2, 3, 4}), floats({1, 2, 2}, {1, 2, 3, 5}), scalar(1)});
    EXPECT_EQ(y.shape, (Shape{1, 2}));
    EXPECT_NEAR(y.data[0], 1, 1e-6);
    EXPECT_NEAR(y.data[1], 0.996546, 1e-6);
    EXPECT_EQ(run(OpType::CosineSimilarity, {}, {floats({1, 2}, {0, 0}), floats({1, 2}, {1, 2}), scalar(-1)}).data,
              (std::vector<float>{0}));
    expectRefused(OpType::CosineSimilarity, {}, {iota({1, 2}), iota({1, 3}), scalar(1)}, Status::ComputeSizeError,
                  "its inputs are 1x2 and 1x3, equal shapes are needed");
}

}  // namespace
}  // namespace mnnc::test
