// The work of operators in the sums of the session's records, also where an operator becomes several commands.
#include <gtest/gtest.h>

#include "net_builder.h"

namespace mnnc::test {
namespace {

// Height 6 and width 8, windows of 2 x 3: outputs of 5 x 6.
wire::NetT poolingNet(wire::MNN_DATA_FORMAT format) {
    const bool last = format == wire::MNN_DATA_FORMAT::NHWC;
    wire::NetT net;
    net.tensorName = {"x", "y"};
    net.outputName = {"y"};
    net.oplists.push_back(makeInput(0, last ? std::vector<int32_t>{2, 6, 8, 3} : std::vector<int32_t>{2, 3, 6, 8}));
    net.oplists.back()->main.AsInput()->dformat = format;
    wire::PoolT pool;
    pool.kernelY = 2;
    pool.kernelX = 3;
    pool.strideX = pool.strideY = 1;
    pool.type = wire::PoolType::AVEPOOL;
    pool.padType = wire::PoolPadType::VALID;
    net.oplists.push_back(makeOp(wire::OpType::Pooling, "pool", {0}, {1}, std::move(pool)));
    return net;
}

TEST(Encoder, FlopsAreCountedOnceForAnOperatorOfSeveralCommands) {
    for (const auto format : {wire::MNN_DATA_FORMAT::NCHW, wire::MNN_DATA_FORMAT::NHWC}) {
        const NetResult result = runNet(poolingNet(format));
        ASSERT_EQ(result.outputs[0].size(), 2u * 3 * 5 * 6);
        double flops = 0;
        for (const OpRecord& op : result.ops) flops += op.flops;
        EXPECT_EQ(flops, 2.0 * 3 * 5 * 6 * 2 * 3) << wire::EnumNameMNN_DATA_FORMAT(format);
    }
}

}  // namespace
}  // namespace mnnc::test
