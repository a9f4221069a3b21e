// Gather, GatherV2, GatherND, GatherElements: from the wire table to values.
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(Gather, IndicesFromBothEnds) {
    EXPECT_EQ(intsOf(OpType::GatherV2, {}, {intIota({2, 3}), ints({2, 0, -3, -1}), scalar(1)}),
              (Ints{2, 0, 0, 2, 5, 3, 3, 5}));
    EXPECT_THROW(run(OpType::GatherV2, {}, {intIota({2, 3}), ints({2, 0, 3, -1}), scalar(1)}), Error);
    EXPECT_EQ(shapeOf(OpType::Gather, axisTable(1), {intIota({2, 3}), scalar(1)}), "2");
    EXPECT_EQ(intsOf(OpType::GatherV2, {}, {intIota({2, 3}), scalar(1), scalar(-2)}), (Ints{3, 4, 5}));
    EXPECT_EQ(intsOf(OpType::GatherV2, {}, {intIota({3}), ints({2, 0}), scalar(-1)}), (Ints{2, 0}));
    EXPECT_THROW(run(OpType::Gather, axisTable(-3), {intIota({2, 3}), scalar(1)}), Error);
    EXPECT_EQ(intsOf(OpType::GatherND, {}, {intIota({2, 3}), ints(Shape{2, 2}, {1, 1, -2, -1})}), (Ints{4, 2}));
    EXPECT_THROW(run(OpType::GatherND, {}, {intIota({2, 3}), ints(Shape{2, 2}, {1, 1, 0, 5})}), Error);
    EXPECT_EQ(intsOf(OpType::GatherND, axisTable(1), {intIota({2, 3}), ints(Shape{2, 1}, {-1, 3})}), (Ints{2, 3}));
    EXPECT_THROW(run(OpType::GatherND, axisTable(1), {intIota({2, 3}), ints(Shape{2, 1}, {0, -1})}), Error);
    EXPECT_THROW(run(OpType::GatherND, axisTable(1), {intIota({2, 3}), ints(Shape{3, 1}, {0, 3, 3})}), Error);
    EXPECT_EQ(intsOf(OpType::GatherND, {}, {intIota({2, 3}), ints(Shape{1, 1}, {1})}), (Ints{3, 4, 5}));
    EXPECT_EQ(intsOf(OpType::GatherElements, {}, {intIota({2, 3}), ints(Shape{2, 2}, {2, 0, 1, -3}), scalar(-1)}),
              (Ints{2, 0, 4, 3}));
    EXPECT_THROW(run(OpType::GatherElements, {}, {intIota({2, 3}), ints(Shape{2, 2}, {2, 0, 1, 7}), scalar(-1)}),
                 Error);
}

}  // namespace
}  // namespace mnnc::test
