// DepthToSpace, SpaceToDepth, SpaceToBatchND, BatchToSpaceND: from the wire table to values.
#include "model_builder.h"
#include "op_harness.h"

namespace mnnc::test {
namespace {

TEST(Space, BlocksOfPixels) {
    const auto depth = [](wire::DepthToSpaceMode mode) {
        return [=](flatbuffers::FlatBufferBuilder& b) { return asParameter(wire::CreateDepthSpaceParam(b, 2, mode)); };
    };
    const Value x = intIota({1, 8, 1, 1});
    EXPECT_EQ(intsOf(OpType::DepthToSpace, depth(wire::DepthToSpaceMode::DCR), {x}), (Ints{0, 2, 4, 6, 1, 3, 5, 7}));
    EXPECT_EQ(intsOf(OpType::DepthToSpace, depth(wire::DepthToSpaceMode::CRD), {x}), (Ints{0, 1, 2, 3, 4, 5, 6, 7}));
    for (const Format format : {Format::NCHW, Format::NHWC})
        for (const auto mode : {wire::DepthToSpaceMode::DCR, wire::DepthToSpaceMode::CRD}) {
            const Value y = intIota({2, 4, 6, 8}, format);
            EXPECT_EQ(intsOf(OpType::DepthToSpace, depth(mode), {run(OpType::SpaceToDepth, depth(mode), {y})}), y.ints);
        }
    EXPECT_EQ(
        intsOf(OpType::SpaceToBatchND, {}, {intIota({1, 1, 2, 2}), ints({2, 2}), ints(Shape{2, 2}, {0, 0, 0, 0})}),
        (Ints{0, 1, 2, 3}));
    const Value block = ints({2, 3}), pads = ints(Shape{2, 2}, {1, 0, 2, 1});
    for (const Format format : {Format::NCHW, Format::NHWC}) {
        const Value image = intIota(format == Format::NCHW ? Shape{2, 3, 5, 6} : Shape{2, 5, 6, 3}, format);
        const Value blocked = run(OpType::SpaceToBatchND, {}, {image, block, pads});
        EXPECT_EQ(blocked.shape[0], 12);
        EXPECT_EQ(intsOf(OpType::BatchToSpaceND, {}, {blocked, block, pads}), image.ints);
    }
}

// There is a block for each of one or two axes, and a pair of paddings for each block.
TEST(Space, BlocksAndPaddingsThatDoNotFit) {
    const auto blocks = [](const std::vector<Value>& more) {
        std::vector<Value> inputs = {intIota({1, 1, 2, 2}), ints({2, 2})};
        inputs.insert(inputs.end(), more.begin(), more.end());
        return shapeOf(OpType::SpaceToBatchND, {}, inputs);
    };
    EXPECT_EQ(blocks({ints({0, 0, 0, 0})}), "4x1x1x1");
    expectFailure(Status::ComputeSizeError, "2 blocks and 3 paddings", [&] { blocks({ints({0, 0, 0})}); });
    expectFailure(Status::ComputeSizeError, "2 blocks and 2 paddings", [&] { blocks({ints({0, 0})}); });
    expectFailure(Status::BadParameter, "neither three inputs nor", [&] { blocks({}); });
}

}  // namespace
}  // namespace mnnc::test
