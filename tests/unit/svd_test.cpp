// Svd: exact values, NaN and infinite contents, shapes.
#include <cmath>
#include <limits>

#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(Svd, DiagonalMatrices) {
    const auto y = OpRun(OpType::Svd, Table())({floats({3, 2}, {0, -4, 3, 0, 0, 0})}, 3);
    EXPECT_EQ(y[0].data, (std::vector<float>{4, 3}));
    EXPECT_EQ(y[1].data, (std::vector<float>{-1, 0, 0, 1, 0, 0}));
    EXPECT_EQ(y[2].data, (std::vector<float>{0, 1, 1, 0}));
}

TEST(Svd, EmptyMatrices) {
    const auto noRows = OpRun(OpType::Svd, Table())({floats({0, 2}, {})}, 3);
    EXPECT_EQ(noRows[0].data, (std::vector<float>{0, 0}));
    EXPECT_EQ(noRows[2].data, (std::vector<float>{1, 0, 0, 1}));
    const auto noColumns = OpRun(OpType::Svd, Table())({floats({2, 0}, {})}, 3);
    EXPECT_EQ(noColumns[2].shape, (Shape{0, 0}));
}

TEST(Svd, NoNumbers) {
    for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
        for (const Value& value : OpRun(OpType::Svd, Table())({floats({2, 2}, {1, 2, bad, 3})}, 3))
            for (const float element : value.data) EXPECT_TRUE(std::isnan(element));
}

TEST(Svd, Refuses) {
    EXPECT_THROW(OpRun(OpType::Svd, Table())({iota({2, 2, 2})}, 3), Error);
    EXPECT_THROW(OpRun(OpType::Svd, Table())({intIota({2, 2})}, 3), Error);
}

}  // namespace
}  // namespace mnnc::test
