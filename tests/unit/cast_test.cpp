// Cast, CastLike: from the wire table to values.
#include "op_harness.h"

namespace mnnc::test {
namespace {

Table cast(wire::DataType type) {
    return [=](flatbuffers::FlatBufferBuilder& b) {
        return asParameter(wire::CreateCastParam(b, wire::DataType::DT_INVALID, type));
    };
}

TEST(Cast, BetweenFloatsIntegersAndTruthValues) {
    EXPECT_EQ(intsOf(OpType::Cast, cast(wire::DataType::DT_INT64), {floats({3}, {1.9f, -1.9f, 3e9f})}),
              (Ints{1, -1, INT32_MIN}));
    EXPECT_EQ(intsOf(OpType::Cast, cast(wire::DataType::DT_BOOL), {floats({3}, {0.0f, -0.0f, 2.0f})}), (Ints{0, 0, 1}));
    EXPECT_EQ(run(OpType::CastLike, {}, {ints({1, -2}), floats({1}, {0})}).data, (std::vector<float>{1, -2}));
}

}  // namespace
}  // namespace mnnc::test
