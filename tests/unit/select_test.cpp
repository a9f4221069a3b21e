// Select, Where, Unique, SetDiff1D, UnravelIndex: from the wire table to values.
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(Select, SelectsAndCounts) {
    EXPECT_EQ(intsOf(OpType::Select, {}, {ints(Shape{2, 1}, {1, 0}), ints({1, 2}), scalar(9)}), (Ints{1, 2, 9, 9}));
    EXPECT_EQ(intsOf(OpType::Select, {}, {ints(Shape{2, 2}, {1, 0, 0, 1}), intIota({2, 2}), ints({8, 9})}),
              (Ints{0, 9, 8, 3}));
    const Table extra = [](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateExtra(b)); };
    EXPECT_EQ(intsOf(OpType::Where, extra, {ints(Shape{2, 2}, {0, 3, -1, 1})}), (Ints{0, 1, 1, 0, 1, 1}));
    EXPECT_EQ(shapeOf(OpType::Where, extra, {ints({0, 0})}), "0x1");
    const auto unique = OpRun(OpType::Unique, Table())({ints({3, 1, 3, -2})}, 4);
    EXPECT_EQ(unique[0].ints, (Ints{-2, 1, 3}));
    EXPECT_EQ(unique[1].ints, (Ints{3, 1, 0}));
    EXPECT_EQ(unique[2].ints, (Ints{2, 1, 2, 0}));
    EXPECT_EQ(unique[3].ints, (Ints{1, 1, 2}));
    EXPECT_EQ(intsOf(OpType::SetDiff1D, {}, {ints({1, 2, 2, 3}), ints({3, 1})}), (Ints{2, 2}));
    EXPECT_EQ(intsOf(OpType::UnravelIndex, {}, {ints({5, 11}), ints({3, 4})}), (Ints{1, 2, 1, 3}));
    EXPECT_THROW(run(OpType::UnravelIndex, {}, {ints({5, 12}), ints({3, 4})}), Error);
}

TEST(Select, UniqueKeepsSmallNumbers) {
    const float least = std::numeric_limits<float>::denorm_min(), largest = std::numeric_limits<float>::max();
    const Value x{{8}, {2, -least, -1e-40f, 0, -largest, -least, largest, -0.0f}, Format::NCHW, {}};
    EXPECT_EQ(OpRun(OpType::Unique, Table())({x}, 1)[0].data,
              (std::vector<float>{-largest, -1e-40f, -least, 0, 2, largest}));
}

}  // namespace
}  // namespace mnnc::test
