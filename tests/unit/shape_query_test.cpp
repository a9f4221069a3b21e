// Shape, Size, Rank: from the wire table to values.
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(ShapeQuery, ExtentsSizeAndRank) {
    EXPECT_EQ(intsOf(OpType::Shape, {}, {intIota({2, 3})}), (Ints{2, 3}));
    EXPECT_EQ(intsOf(OpType::Shape, {}, {intIota({1, 5, 2, 3}, Format::NC4HW4)}), (Ints{1, 2, 3, 5}));
    const Table part = [](flatbuffers::FlatBufferBuilder& b) {
        return asParameter(wire::CreateShapeParam(b, true, -2, true, 9));
    };
    EXPECT_EQ(intsOf(OpType::Shape, part, {intIota({1, 5, 2, 3})}), (Ints{2, 3}));
    EXPECT_EQ(intsOf(OpType::Size, {}, {intIota({2, 3})}), Ints{6});
    EXPECT_EQ(intsOf(OpType::Rank, {}, {intIota({2, 3})}), Ints{2});
}

}  // namespace
}  // namespace mnnc::test
