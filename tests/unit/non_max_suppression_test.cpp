// NonMaxSuppressionV2: from the wire table to values.
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(NonMaxSuppression, BoxesAndClasses) {
    const std::vector<float> boxes = {0, 0, 1, 1, 0, 0.1f, 1, 1.1f, 0, 10, 1, 11, 1, 1.05f, 0, 0.05f};
    const auto limit = floats({1}, {0.5f});
    EXPECT_EQ(intsOf(OpType::NonMaxSuppressionV2, {},
                     {floats({4, 4}, boxes), floats({4}, {0.6f, 0.9f, 0.7f, 0.1f}), ints({4}), limit}),
              (Ints{1, 2}));
    const Value rows = run(OpType::NonMaxSuppressionV2, {},
                           {floats({1, 4, 4}, boxes), floats({1, 2, 4}, {0.6f, 0.9f, 0.7f, 0.1f, 0, 0, 0.5f, 0}),
                            ints({4}), limit, floats({1}, {0.4f})});
    EXPECT_EQ(rows.shape.text(), "3x3");
    EXPECT_EQ(rows.ints, (Ints{0, 0, 1, 0, 0, 2, 0, 1, 2}));
}

TEST(NonMaxSuppression, OfEqualScoresTheFirstBox) {
    // No box overlaps another one, so all are kept, in order of their scores. A heap that compares scores alone would
    // give boxes with equal scores in another order.
    std::vector<float> boxes, scores;
    Ints order;
    for (int i = 0; i < 41; ++i) {
        const auto at = static_cast<float>(2 * i);
        boxes.insert(boxes.end(), {at, 0, at + 1, 1});
        scores.push_back(i % 3 == 2 ? 0.75f : 0.5f);
    }
    for (const int first : {2, 0})
        for (int i = 0; i < 41; ++i)
            if ((i % 3 == 2) == (first == 2)) order.push_back(i);
    EXPECT_EQ(intsOf(OpType::NonMaxSuppressionV2, {},
                     {floats({41, 4}, boxes), floats({41}, scores), ints({41}), floats({1}, {0.5f})}),
              order);
}

}  // namespace
}  // namespace mnnc::test
