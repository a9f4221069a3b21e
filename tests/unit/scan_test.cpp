// CumSum, CumProd, MatrixBandPart: from the wire table to values.
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(Scan, SumsProductsAndBands) {
    const auto sum = [](bool exclusive, bool reverse) {
        return
            [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateCumSum(b, exclusive, reverse)); };
    };
    EXPECT_EQ(intsOf(OpType::CumSum, sum(false, false), {ints({1, 2, 3}), scalar(0)}), (Ints{1, 3, 6}));
    EXPECT_EQ(intsOf(OpType::CumSum, sum(true, false), {ints({1, 2, 3}), scalar(0)}), (Ints{0, 1, 3}));
    EXPECT_EQ(intsOf(OpType::CumSum, sum(true, true), {ints({1, 2, 3}), scalar(-1)}), (Ints{5, 3, 0}));
    EXPECT_EQ(intsOf(OpType::CumProd, axisTable(0), {ints(Shape{2, 2}, {2, 3, 4, 5})}), (Ints{2, 3, 8, 15}));
    EXPECT_EQ(run(OpType::MatrixBandPart, {}, {floats({2, 2}, {1, 2, 3, 4}), scalar(0), scalar(-1)}).data,
              (std::vector<float>{1, 2, 0, 4}));
}

}  // namespace
}  // namespace mnnc::test
