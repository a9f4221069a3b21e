// Padding: from the wire table to values.
#include "op_harness.h"

namespace mnnc::test {
namespace {

Table pad(wire::PadValueMode mode) {
    return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreatePadParam(b, mode)); };
}

TEST(Padding, Modes) {
    const Value x = ints({1, 2, 3});
    using Mode = wire::PadValueMode;
    EXPECT_EQ(intsOf(OpType::Padding, pad(Mode::REFLECT), {x, ints({2, 2})}), (Ints{3, 2, 1, 2, 3, 2, 1}));
    EXPECT_EQ(intsOf(OpType::Padding, pad(Mode::SYMMETRIC), {x, ints({2, 3})}), (Ints{2, 1, 1, 2, 3, 3, 2, 1}));
    EXPECT_EQ(intsOf(OpType::Padding, pad(Mode::EDGE), {x, ints({1, 2})}), (Ints{1, 1, 2, 3, 3, 3}));
    EXPECT_EQ(intsOf(OpType::Padding, pad(Mode::REFLECT), {x, ints({3, 0})}), (Ints{0, 3, 2, 1, 2, 3}));
    EXPECT_EQ(intsOf(OpType::Padding, {}, {x, ints({-1, 2}), scalar(9)}), (Ints{2, 3, 9, 9}));
    EXPECT_EQ(intsOf(OpType::Padding, {}, {x, ints({-1, -1})}), Ints{2});
    EXPECT_EQ(intsOf(OpType::Padding, {}, {intIota({1, 2}), ints({1, 0, 1, 1}), scalar(7)}),
              (Ints{7, 7, 7, 7, 7, 0, 1, 7}));
    EXPECT_EQ(intsOf(OpType::Padding, pad(Mode::SYMMETRIC), {intIota({1, 2}), ints({1, 0, 1, 0})}),
              (Ints{0, 0, 1, 0, 0, 1}));
    EXPECT_THROW(run(OpType::Padding, {}, {x, ints({-2, -2})}), Error);
}

}  // namespace
}  // namespace mnnc::test
