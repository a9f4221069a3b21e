// Reshape, Flatten, Squeeze, Unsqueeze, ExpandDims: from the wire table to values.
#include "op_harness.h"

namespace mnnc::test {
namespace {

Table reshape(std::vector<int> dims, wire::MNN_DATA_FORMAT format = wire::MNN_DATA_FORMAT::NCHW) {
    return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateReshapeDirect(b, &dims, format)); };
}

TEST(Reshape, ShapesAndOrders) {
    EXPECT_EQ(shapeOf(OpType::Reshape, reshape({0, -1}), {intIota({2, 3, 4})}), "2x12");
    EXPECT_EQ(shapeOf(OpType::Reshape, reshape({}), {intIota({2, 3, 4}), ints({4, -1})}), "4x6");
    EXPECT_THROW(run(OpType::Reshape, reshape({5, -1}), {intIota({2, 3, 4})}), Error);
    // Zeros are extents of the input if that fits, otherwise extents of 0.
    EXPECT_EQ(shapeOf(OpType::Reshape, reshape({}), {intIota({0, 3, 4}), ints({0, 12})}), "0x12");
    EXPECT_EQ(shapeOf(OpType::Reshape, reshape({}), {intIota({0, 3, 4}), ints({3, 4, 0})}), "3x4x0");
    EXPECT_THROW(run(OpType::Reshape, reshape({}), {intIota({1, 3, 4}), ints({3, 4, 0})}), Error);
    const Value packed = intIota({1, 4, 2, 2}, Format::NC4HW4);
    EXPECT_EQ(intsOf(OpType::Reshape, reshape({1, 2, 2, 4}), {packed}), packed.ints);
    EXPECT_EQ(intsOf(OpType::Reshape, reshape({1, 2, 2, 4}, wire::MNN_DATA_FORMAT::NHWC), {packed}),
              (Ints{0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15}));
    EXPECT_EQ(intsOf(OpType::Reshape, reshape({1, 16}, wire::MNN_DATA_FORMAT::NHWC), {packed}),
              (Ints{0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15}));
    const auto flatten = [](int from, int to) {
        return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateFlatten(b, from, to)); };
    };
    EXPECT_EQ(shapeOf(OpType::Flatten, flatten(0, 0), {intIota({2, 3, 4})}), "1x24");
    EXPECT_EQ(shapeOf(OpType::Flatten, flatten(1, 2), {intIota({2, 3, 4, 5})}), "2x12x5");
    EXPECT_EQ(shapeOf(OpType::Squeeze, {}, {intIota({1, 3, 1})}), "3");
    EXPECT_EQ(shapeOf(OpType::Unsqueeze, {}, {intIota({3}), ints({0, -1})}), "1x3x1");
    EXPECT_THROW(run(OpType::Unsqueeze, {}, {intIota({3}), ints({0, 0})}), Error);
    EXPECT_EQ(shapeOf(OpType::ExpandDims, {}, {intIota({3}), ints({-1})}), "3x1");
}

// The axes of the file's list are used, and those of input 1 where it has none.
TEST(Reshape, AxesOfTheFileComeFirst) {
    const auto listed = [](std::vector<int> axes) {
        return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateSqueezeParamDirect(b, &axes)); };
    };
    EXPECT_EQ(shapeOf(OpType::Squeeze, listed({2}), {intIota({1, 3, 1}), ints({0})}), "1x3");
    EXPECT_EQ(shapeOf(OpType::Squeeze, listed({}), {intIota({1, 3, 1}), ints({0})}), "3x1");
    EXPECT_EQ(shapeOf(OpType::Unsqueeze, listed({2}), {intIota({3, 4}), ints({0})}), "3x4x1");
    EXPECT_EQ(shapeOf(OpType::Unsqueeze, listed({}), {intIota({3, 4}), ints({0})}), "1x3x4");
}

}  // namespace
}  // namespace mnnc::test
