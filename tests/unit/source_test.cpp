// Operators that pass their input through.
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(Source, DropoutPassesItsInputThrough) {
    EXPECT_EQ(intsOf(OpType::Dropout, {}, {ints(Shape{2, 3}, {1, -2, 3, 4, 5, -6})}),
              (Ints{1, -2, 3, 4, 5, -6}));
    EXPECT_EQ(shapeOf(OpType::Dropout, {}, {ints(Shape{2, 3}, {1, 2, 3, 4, 5, 6})}), "2x3");
    // With the ratio and the mode as inputs.
    EXPECT_EQ(intsOf(OpType::Dropout, {}, {ints({7, 8}), scalar(1), scalar(0)}), (Ints{7, 8}));
}

}  // namespace
}  // namespace mnnc::test
