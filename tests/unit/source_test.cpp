// Operators that pass their input through.
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(Source, DropoutPassesItsInputThrough) {
    EXPECT_EQ(intsOf(OpType::Dropout, {}, {ints(Shape{2, 3}, {1, -2, 3, 4, 5, -6})}), (Ints{1, -2, 3, 4, 5, -6}));
    EXPECT_EQ(shapeOf(OpType::Dropout, {}, {ints(Shape{2, 3}, {1, 2, 3, 4, 5, 6})}), "2x3");
    // The ratio and the mode are inputs.
    EXPECT_EQ(intsOf(OpType::Dropout, {}, {ints({7, 8}), scalar(1), scalar(0)}), (Ints{7, 8}));
}

TEST(Source, TheMaskOfDropoutKeepsEverything) {
    const std::vector<Value> made = OpRun(OpType::Dropout, Table())({ints(Shape{2, 2}, {0, 5, 6, 7})}, 2);
    EXPECT_EQ(made[0].ints, (Ints{0, 5, 6, 7}));
    EXPECT_EQ(made[1].ints, (Ints{1, 1, 1, 1}));
    EXPECT_EQ(made[1].shape.text(), "2x2");
}

}  // namespace
}  // namespace mnnc::test
