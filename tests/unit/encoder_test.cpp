// The work of operators in the sums of the session's records, also where an operator becomes several commands;
// operators of constants, which are computed while planning.
#include <gtest/gtest.h>

#include <functional>

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

// Kernels that want packed channels get them while planning, too.
TEST(Encoder, OperatorsOfConstantsComputeWhatTheyDoInRuns) {
    using Code = wire::BinaryOpOperation;
    using Operator = std::function<int(NetBuilder&, int)>;
    const std::vector<std::pair<const char*, Operator>> operators = {
        {"Convolution", [](NetBuilder& s, int x) { return s.conv(x, 5, 21, 3); }},
        {"ConvolutionDepthwise", [](NetBuilder& s, int x) { return s.depthwise(x, 5); }},
        {"Scale", [](NetBuilder& s, int x) { return s.scale(x, 5); }},
        {"Interp", [](NetBuilder& s, int x) { return s.resize(x, 2, 9, 4); }},
    };
    for (const auto& [type, append] : operators) {
        const auto run = [&, &append = append](bool folded) {
            NetBuilder s;
            const int nothing = s.binary(Code::MUL, s.input({1, 1, 1, 1}), s.scalar(0));
            const int constant = s.constant({1, 5, 6, 7});
            const int y = folded ? append(s, constant) : append(s, s.binary(Code::ADD, constant, nothing));
            return runNet(s.finish({s.binary(Code::ADD, y, nothing)}));
        };
        const NetResult now = run(true), later = run(false);
        EXPECT_EQ(now.count(type), 0u) << type;
        EXPECT_EQ(later.count(type), 1u) << type;
        ASSERT_EQ(now.outputs[0].size(), later.outputs[0].size()) << type;
        for (size_t i = 0; i < now.outputs[0].size(); ++i)
            EXPECT_NEAR(now.outputs[0][i], later.outputs[0][i], 1e-5f) << type << " at " << i;
    }
}

}  // namespace
}  // namespace mnnc::test
