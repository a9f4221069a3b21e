// Det: exact values and refused inputs.
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(Determinant, ExchangedRowsChangeTheSign) {
    EXPECT_EQ(run(OpType::Det, {}, {floats({2, 2, 2}, {0, 1, 1, 0, 1, 2, 3, 4})}).data, (std::vector<float>{-1, -2}));
    EXPECT_EQ(run(OpType::Det, {}, {floats({2, 2}, {1, 2, 2, 4})}).data, (std::vector<float>{0}));
    EXPECT_EQ(run(OpType::Det, {}, {floats({1, 0, 0}, {})}).data, (std::vector<float>{1}));
    expectRefused(OpType::Det, {}, {iota({2, 3})}, Status::ComputeSizeError, "square matrices are needed");
}

}  // namespace
}  // namespace mnnc::test
