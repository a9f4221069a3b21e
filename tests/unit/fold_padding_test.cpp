// Averages over maps that a Padding surrounded with zeros.
#include <gtest/gtest.h>

#include "quant_net.h"

namespace mnnc::test {
namespace {

struct Window {
    int kernel = 3, stride = 1, pad = 0;
    wire::PoolPadType type = wire::PoolPadType::CAFFE;
    bool ceil = false, maximum = false;
};

class PoolNet : public QuantNet {
  public:
    // pads: before and behind each axis
    int padded(int x, std::vector<int32_t> pads, float value = 0) {
        const int list = tensor();
        const auto count = static_cast<int32_t>(pads.size());
        net_.oplists.push_back(makeIntConst(list, {count}, std::move(pads)));
        const int fill = scalar(value);
        return add(wire::OpType::Padding, {x, list, fill}, wire::PadParamT{});
    }
    int pool(int x, const Window& w) {
        wire::PoolT op;
        op.type = w.maximum ? wire::PoolType::MAXPOOL : wire::PoolType::AVEPOOL;
        op.kernelX = op.kernelY = w.kernel;
        op.strideX = op.strideY = w.stride;
        op.padX = op.padY = w.pad;
        op.padType = w.type;
        op.ceilModel = w.ceil;
        op.countType = wire::AvgPoolCountType::EXCLUDE_PADDING;
        return add(wire::OpType::Pooling, {x}, std::move(op));
    }
};

void expect(const std::vector<int32_t>& pads, const Window& window, bool folded, float value = 0) {
    PoolNet n;
    const int x = n.NetBuilder::input({2, 5, 7, 6});
    const wire::NetT net = n.finish({n.pool(n.padded(x, pads, value), window)});
    const NetResult one = runNet(net), several = runUnfused(net);
    const auto rasters = [](const NetResult& result) { return result.count("Raster"); };
    EXPECT_EQ(rasters(one), folded ? 0U : rasters(several));
    EXPECT_GT(rasters(several), 0U);
    ASSERT_EQ(one.outputs[0].size(), several.outputs[0].size());
    for (size_t i = 0; i < one.outputs[0].size(); ++i)
        EXPECT_NEAR(one.outputs[0][i], several.outputs[0][i], 1e-6f) << i;
}

TEST(FoldPadding, BordersOfThePlane) {
    for (const bool ceil : {false, true})
        for (const auto type : {wire::PoolPadType::CAFFE, wire::PoolPadType::VALID})
            for (const int stride : {1, 2}) {
                const Window window{3, stride, 0, type, ceil};
                expect({0, 0, 0, 0, 1, 1, 1, 1}, window, true);
                expect({0, 0, 0, 0, 0, 2, 1, 0}, window, true);
                expect({0, 0, 0, 0, 2, 1, 0, 0}, window, true);
            }
}

TEST(FoldPadding, WhatIsSomethingElse) {
    expect({0, 0, 1, 1, 1, 1, 1, 1}, {}, false);         // of channels
    expect({0, 0, 0, 0, -1, 1, 1, 1}, {}, false);        // a row is cut off
    expect({0, 0, 0, 0, 1, 1, 1, 1}, {}, false, 2);      // of twos
    expect({0, 0, 0, 0, 1, 1, 1, 1}, {3, 1, 1}, false);  // the average has its own padding
    expect({0, 0, 0, 0, 1, 1, 1, 1}, {3, 1, 0, wire::PoolPadType::CAFFE, false, true}, false);
}

// Over codes the sum has the code of zero for each pixel of the border, and is rounded like over a padded map.
TEST(FoldPadding, OverCodes) {
    for (const float zero : {0.0f, 9.0f}) {
        const auto run = [&](bool watch) {
            PoolNet n;
            const int x = n.QuantNet::input(), a = n.conv(x), b = n.padded(a, {0, 0, 0, 0, 1, 1, 1, 1}),
                      c = n.pool(b, {}), d = n.conv(c);
            n.quant(x).quant(a, 0.04f, zero).quant(b, 0.04f, zero).quant(c, 0.04f, zero).quant(d, 0.05f);
            return runNet(n.finish(watch ? std::vector<int>{d, b} : std::vector<int>{d}));
        };
        const NetResult folded = run(false), padded = run(true);
        EXPECT_EQ(folded.types(), (Types{"FloatToInt8", "ConvInt8", "Pooling", "ConvInt8", "Int8ToFloat"}));
        EXPECT_EQ(padded.count("Raster"), 1U);
        EXPECT_EQ(folded.outputs[0], padded.outputs[0]);
    }
}

}  // namespace
}  // namespace mnnc::test
