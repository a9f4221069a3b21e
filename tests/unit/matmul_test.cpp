// MatMul from the file's table to values: a vector is a row on the left and a column on the right, even where the file
// requests a transposed operand.
#include <gtest/gtest.h>

#include <cmath>

#include "net_builder.h"

namespace mnnc::test {
namespace {

// Returns element i of input `input` of runNet.
double given(int input, int i) {
    return 3 * std::sin(static_cast<float>(i * 7 + 11 * input + 1));
}

TEST(MatMul, VectorsAreNotTransposed) {
    constexpr int kInner = 4, kOther = 3;
    for (const bool transposeA : {false, true})
        for (const bool transposeB : {false, true}) {
            // row x matrix
            NetBuilder left;
            const int row = left.input({kInner});
            const int matrix =
                left.input(transposeB ? std::vector<int32_t>{kOther, kInner} : std::vector<int32_t>{kInner, kOther});
            const NetResult rows = runNet(left.finish({left.matmul(row, matrix, transposeA, transposeB)}));
            ASSERT_EQ(rows.outputs[0].size(), size_t{kOther});
            for (int j = 0; j < kOther; ++j) {
                double sum = 0;
                for (int k = 0; k < kInner; ++k)
                    sum += given(0, k) * given(1, transposeB ? j * kInner + k : k * kOther + j);
                EXPECT_NEAR(rows.outputs[0][static_cast<size_t>(j)], sum, 1e-5);
            }
            // matrix x column
            NetBuilder right;
            const int before =
                right.input(transposeA ? std::vector<int32_t>{kInner, kOther} : std::vector<int32_t>{kOther, kInner});
            const int column = right.input({kInner});
            const NetResult columns = runNet(right.finish({right.matmul(before, column, transposeA, transposeB)}));
            ASSERT_EQ(columns.outputs[0].size(), size_t{kOther});
            for (int i = 0; i < kOther; ++i) {
                double sum = 0;
                for (int k = 0; k < kInner; ++k)
                    sum += given(0, transposeA ? k * kOther + i : i * kInner + k) * given(1, k);
                EXPECT_NEAR(columns.outputs[0][static_cast<size_t>(i)], sum, 1e-5);
            }
        }
}

}  // namespace
}  // namespace mnnc::test
