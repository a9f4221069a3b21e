// Tile, BroadcastTo, Fill, OneHot, Range and other operators that fill tensors: from the wire table to values.
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(Fill, RepeatedAndComputedValues) {
    EXPECT_EQ(intsOf(OpType::Tile, {}, {intIota({2, 2}), ints({2, 2})}),
              (Ints{0, 1, 0, 1, 2, 3, 2, 3, 0, 1, 0, 1, 2, 3, 2, 3}));
    EXPECT_EQ(intsOf(OpType::BroadcastTo, {}, {intIota({2, 1}), ints({3})}), (Ints{0, 0, 0, 1, 1, 1}));
    EXPECT_EQ(shapeOf(OpType::BroadcastTo, {}, {intIota({2}), ints({1, 1, 1})}), "1x1x2");
    EXPECT_EQ(intsOf(OpType::BroadcastTo, axisTable(1), {intIota({2}), ints({2, 3})}), (Ints{0, 0, 0, 1, 1, 1}));
    EXPECT_EQ(intsOf(OpType::Fill, {}, {ints({2, 2}), scalar(5)}), (Ints{5, 5, 5, 5}));
    EXPECT_EQ(intsOf(OpType::ZerosLike, {}, {intIota({3})}), (Ints{0, 0, 0}));
    EXPECT_EQ(intsOf(OpType::EyeLike, {}, {intIota({2, 3}), ints({1})}), (Ints{0, 1, 0, 0, 0, 1}));
    const Table last = [](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateOneHotParam(b)); };
    EXPECT_EQ(intsOf(OpType::OneHot, last, {ints({1, -1, 2}), scalar(3), scalar(8), scalar(4)}),
              (Ints{4, 8, 4, 4, 4, 4, 4, 4, 8}));
    EXPECT_EQ(intsOf(OpType::Range, {}, {scalar(5), scalar(0), scalar(-2)}), (Ints{5, 3, 1}));
    EXPECT_EQ(run(OpType::Range, {}, {floats({}, {0}), floats({}, {1}), floats({}, {0.4f})}).data,
              (std::vector<float>{0, 0.4f, 0.8f}));
    EXPECT_EQ(run(OpType::LinSpace, {}, {floats({}, {0}), floats({}, {1}), scalar(3)}).data,
              (std::vector<float>{0, 0.5f, 1}));
    const Table random = [](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateRandomUniform(b, 7)); };
    const std::vector<float> drawn = run(OpType::RandomUniform, random, {ints({3})}).data;
    EXPECT_NEAR(drawn[0], 0.417022, 1e-6);
    EXPECT_NEAR(drawn[2], 0.720325, 1e-6);
}

}  // namespace
}  // namespace mnnc::test
