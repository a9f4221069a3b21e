// Permute, Transpose, Reverse, ReverseSequence: from the wire table to values.
#include "op_harness.h"

namespace mnnc::test {
namespace {

Table permute(std::vector<int> dims) {
    return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreatePermuteDirect(b, &dims)); };
}

TEST(Permute, AnyRank) {
    EXPECT_EQ(intsOf(OpType::Permute, permute({1, 0}), {intIota({2, 3})}), (Ints{0, 3, 1, 4, 2, 5}));
    const Value in = intIota({2, 3, 2, 2, 3});
    const int dims[] = {4, 2, 0, 3, 1};
    const Value out = run(OpType::Permute, permute({4, 2, 0, 3, 1}), {in});
    EXPECT_EQ(out.shape.text(), "3x2x2x2x3");
    const int64_t stride[] = {36, 12, 6, 3, 1};
    for (int64_t i = 0; i < 72; ++i) {
        int64_t rest = i, from = 0;
        for (int a = 4; a >= 0; --a) {
            from += rest % out.shape[a] * stride[dims[a]];
            rest /= out.shape[a];
        }
        EXPECT_EQ(out.ints[static_cast<size_t>(i)], from);
    }
    EXPECT_THROW(run(OpType::Transpose, {}, {intIota({2, 3}), ints({0, 0})}), Error);
    EXPECT_EQ(intsOf(OpType::Reverse, {}, {intIota({2, 3}), ints({-1})}), (Ints{2, 1, 0, 5, 4, 3}));
    EXPECT_EQ(intsOf(OpType::Reverse, {}, {intIota({2, 3}), ints({1, -2})}), (Ints{5, 4, 3, 2, 1, 0}));
    EXPECT_THROW(intsOf(OpType::Reverse, {}, {intIota({2, 3}), ints({1, -1})}), Error);
    const Table sequence = [](flatbuffers::FlatBufferBuilder& b) {
        return asParameter(wire::CreateReverseSequenceParam(b, 0, 1));
    };
    EXPECT_EQ(intsOf(OpType::ReverseSequence, sequence, {intIota({2, 3}), ints({2, 3})}), (Ints{1, 0, 2, 5, 4, 3}));
}

}  // namespace
}  // namespace mnnc::test
